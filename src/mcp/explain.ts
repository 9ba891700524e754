/** Says to a model what went wrong and what to do next. */

/** A refusal of ours or of the service, or the news that no answer came. */
export interface Trouble {
  readonly status?: number;
  readonly code: string;
  readonly message: string;
  /** The body's error; its further members may be anything, for the service may be another's. */
  readonly error?: Readonly<Record<string, unknown>> | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly mayHaveRun?: boolean;
}

export interface Explained {
  /** The caller's credential: redacted, where the service repeats it. */
  readonly key?: string | undefined;
  readonly isWrite?: boolean;
}

/** `send_message failed: outside_service_window (422). … Next: … Request id req_1.` */
export function explain(tool: string, trouble: Trouble, { key, isWrite = false }: Explained): string {
  const { status, code, error = {}, requestId } = trouble;
  const parts = [
    `${tool} failed: ${code}${status === undefined ? "" : ` (${status})`}.`,
    sentence(trouble.message),
    ...describeFields(error.details, trouble.message),
  ];
  const next = `Next: ${sentence(nextOf(trouble, isWrite))}`;
  const facts = describeFacts(error, [...parts, next].join(" "));
  const text = [...parts, ...facts, next, ...(requestId ? [`Request id ${requestId}.`] : [])].join(" ");
  return redact(text, key);
}

/** The key by its value, and what has the form of another. */
function redact(text: string, key: string | undefined): string {
  const safe = key === undefined || key.length < 6 ? text : text.replaceAll(key, "[secret]");
  return safe.replace(/\bsk_live_[\w.-]{8,}/g, "[secret]");
}

/** Every field that is wrong, unless the sentence has said so already. */
function describeFields(details: unknown, said: string): string[] {
  const list: Readonly<Record<string, unknown>>[] = Array.isArray(details) ? details.slice(0, 20) : [];
  return list
    .filter((detail) => typeof detail?.message === "string")
    .filter(({ field, message }) => message !== said && !said.includes(`${field}: ${message}`))
    .map(({ field, message, fix }) =>
      sentence(["Field", `${field}:`, message, fix].filter(Boolean).join(" ")),
    );
}

const told = new Set([
  "type",
  "code",
  "message",
  "fix",
  "param",
  "details",
  "request_id",
  "retry_after",
  // The sentence names the rule, which these make up.
  "required_scopes",
]);

/** What stands beside the code and has not been said: `existing_id`, `suggestions`, … */
function describeFacts(error: Readonly<Record<string, unknown>>, said: string): string[] {
  return Object.entries(error)
    .filter(([name, value]) => !told.has(name) && !(typeof value === "string" && said.includes(value)))
    .map(([name, value]) => `${name}: ${JSON.stringify(value).slice(0, 1000)}.`);
}

function nextOf({ status, error, retryAfterSeconds, mayHaveRun }: Trouble, isWrite: boolean): string {
  if (isWrite && mayHaveRun) {
    return "It may have been done all the same: look with a get or list tool before calling again.";
  }
  if (typeof error?.fix === "string") {
    return error.fix;
  }
  if (status === 429 || retryAfterSeconds !== undefined) {
    return `Wait ${retryAfterSeconds ?? 5} s and call again.`;
  }
  return (
    nexts[status ?? 503] ??
    (status !== undefined && status < 500 ? "Correct the arguments and call again." : later)
  );
}

const later = "Try again in a moment.";

/** For a service that does not say it itself. */
const nexts: Readonly<Record<number, string>> = {
  401: "Check the API key: it may be mistyped, revoked or expired.",
  402: "Top up the wallet.",
  403: "Use a key that may do this; the list of tools, asked for again, shows what this one may do.",
  404: "Find the id with the list tool of the same thing.",
  409: "Look at the present state with a get or list tool, then decide.",
};

/** Ended as a sentence, and not longer than anyone reads. */
function sentence(text: string): string {
  const short = text.length > 1000 ? `${text.slice(0, 1000)}…` : text;
  return /[.!?…]$/.test(short) ? short : `${short}.`;
}
