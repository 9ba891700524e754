/** Describes a failure to a model: what went wrong, and what to do next. */
import type { CallToolResult } from "@modelcontextprotocol/server";
import { removeMentions } from "../../../../tools/contract/index.ts";
import { cutText, shortenText } from "../../../texts/cut.ts";
import type { ToolFailure } from "./failure.ts";

export interface DescribeOptions {
  /** The caller's credential, which is redacted. */
  readonly key?: string | undefined;
  readonly isWrite?: boolean;
  /** Whether a tool exists and this caller can't call it, so that the next step does not name it. */
  isHidden?(tool: string): boolean;
}

/** A failure as the result of a call. */
export function createFailureResult(
  tool: string,
  failure: ToolFailure,
  options?: DescribeOptions,
): CallToolResult {
  return { isError: true, content: [{ type: "text", text: describeToolFailure(tool, failure, options) }] };
}

/** `send_message failed: outside_service_window (422). … Next: … Request id req_1.` */
export function describeToolFailure(
  tool: string,
  failure: ToolFailure,
  { key, isWrite = false, isHidden = () => false }: DescribeOptions = {},
): string {
  const { status, code, error = {}, requestId } = failure;
  const close = (advice: string) =>
    removeMentions(advice, new Set((advice.match(/\w+/g) ?? []).filter(isHidden)));
  const step = close(nextStep(failure, isWrite)) || noStep;
  const parts = [
    `${tool} failed: ${code}${status === undefined ? "" : ` (${status})`}.`,
    toSentence(failure.message),
    ...describeFields(error.details, { message: failure.message, step, close }),
  ];
  const next = `Next: ${toSentence(step)}`;
  const facts = describeFacts(error, [...parts, next].join(" "));
  const text = [...parts, ...facts, next, ...(requestId ? [`Request id ${requestId}.`] : [])].join(" ");
  return redact(text, key);
}

/** Redacts the key by its value, and other keys by their form. */
function redact(text: string, key: string | undefined): string {
  const safe = key === undefined || key.length < 6 ? text : text.replaceAll(key, "[secret]");
  return safe.replace(/\bsk_live_[\w.-]{8,}/g, "[secret]");
}

interface FieldContext {
  readonly message: string;
  readonly step: string;
  /** Removes the tools that this caller can't call. */
  close(advice: string): string;
}

/**
 * The invalid fields: those that the message does not mention yet, and what to send for those that it does.
 */
function describeFields(details: unknown, { message: described, step, close }: FieldContext): string[] {
  const list: Readonly<Record<string, unknown>>[] = Array.isArray(details) ? details.slice(0, 20) : [];
  return list
    .filter((detail) => typeof detail?.message === "string")
    .map(({ field, message, fix }) => {
      const closed = typeof fix === "string" ? close(fix) : "";
      const advice = closed === "" || `${message} ${step}`.includes(closed) ? [] : [closed];
      const isDescribed = message === described || described.includes(`${field}: ${message}`);
      return [...(isDescribed ? [] : ["Field", `${field}:`, message]), ...advice].join(" ");
    })
    .filter((text) => text !== "" && !described.includes(text))
    .map(toSentence);
}

const describedFields = new Set([
  "type",
  "code",
  "message",
  "fix",
  "param",
  "details",
  "request_id",
  "retry_after",
  // The message names the rule that these make up.
  "required_scopes",
]);

/** The other members of the error that the text does not mention yet: `existing_id`, `suggestions`, … */
function describeFacts(error: Readonly<Record<string, unknown>>, described: string): string[] {
  return Object.entries(error)
    .filter(
      ([name, value]) =>
        !describedFields.has(name) &&
        !(typeof value === "string" && described.includes(value)) &&
        !(Array.isArray(value) && value.length === 0),
    )
    .map(([name, value]) => `${name}: ${cutText(JSON.stringify(value), 1000)}.`);
}

function nextStep({ status, error, retryAfterSeconds, mayHaveRun }: ToolFailure, isWrite: boolean): string {
  if (isWrite && mayHaveRun) {
    return "It may have been executed: check with a get or list tool before calling again.";
  }
  if (typeof error?.fix === "string") {
    return error.fix;
  }
  if (status === 429 || retryAfterSeconds !== undefined) {
    return `Wait ${retryAfterSeconds ?? 5} s and call again.`;
  }
  return (
    nextStepByStatus[status ?? 503] ??
    (status !== undefined && status < 500 ? "Correct the arguments and call again." : retryLater)
  );
}

/** For an advice that names only tools that this caller can't call. */
const noStep = "Ask the user: no tool that this key and these settings permit does more.";

const retryLater = "Try again in a moment.";

/** For a service whose errors have no `fix`. */
const nextStepByStatus: Readonly<Record<number, string>> = {
  401: "Check the API key: it may be mistyped, revoked or expired.",
  402: "Top up the wallet.",
  403: "Use a key with this permission; tools/list shows what this key may do.",
  404: "Find the id with the list tool of this resource.",
  409: "Check the current state with a get or list tool, then decide.",
};

/** Ends the text as a sentence and limits its length. */
function toSentence(text: string): string {
  const short = shortenText(text, 1000);
  return /[.!?…]$/.test(short) ? short : `${short}.`;
}
