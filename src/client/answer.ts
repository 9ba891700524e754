/**
 * Reads what a service answered: a JSON object, or a failure.
 *
 * The body of a failure is passed on only in two shapes: our own error envelope, and the problem details of
 * RFC 9457 with a 4xx status. Anything else may hold internals of a service or of a proxy before it (stack
 * traces, SQL, addresses), which no list of patterns finds. Its place takes the sentence for the status.
 */
import { ErrorBody, parseJson, readRetryAfterMs } from "../../tools/contract/index.ts";
import { CallFailure } from "./failure.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** The JSON object that a call was answered. */
export function readAnswer(answer: Answer): object {
  const body = parseJson(answer.text);
  if (isObject(body)) {
    return body;
  }
  const message = `The service answered ${answer.status}, but not with a JSON object: is this its address?`;
  throw new CallFailure({ status: answer.status, code: "not_json", message, requestId: idOf(answer) });
}

/** The failure that an answer reports. */
export function readFailure(answer: Answer): CallFailure {
  const { status, headers } = answer;
  const error = readEnvelope(answer);
  const retryAfterMs = readRetryAfterMs(String(headers["retry-after"] ?? ""), new Date());
  return new CallFailure({
    status,
    code: error?.code ?? `http_${status}`,
    message: error?.message ?? readProblem(answer) ?? CallFailure.sentenceOf(status),
    error,
    requestId: idOf(answer) ?? error?.request_id,
    retryAfterSeconds: retryAfterMs === undefined ? undefined : Math.ceil(retryAfterMs / 1000),
  });
}

/** Of a 5xx only the members that every error has: no 5xx of ours has further facts. */
const withoutFacts = ErrorBody.shape.error.strip();

function readEnvelope({ status, text }: Answer): ErrorBody["error"] | undefined {
  const error = ErrorBody.safeParse(parseJson(text)).data?.error;
  return error && status >= 500 ? withoutFacts.parse(error) : error;
}

/** Title and detail of an RFC 9457 document. A 5xx is left out: frameworks put the exception's text there. */
function readProblem({ status, headers, text }: Answer): string | undefined {
  const isProblem = /^application\/problem\+json\s*(?:;|$)/i.test(String(headers["content-type"] ?? ""));
  const body = isProblem && status < 500 ? parseJson(text) : undefined;
  const said = isObject(body) ? [body.title, body.detail].filter(isText) : [];
  return said.length === 0 ? undefined : said.join(": ");
}

function idOf({ headers }: Answer): string | undefined {
  const id = headers["x-request-id"];
  return isText(id) && /^[\w.-]{1,64}$/.test(id) ? id : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
