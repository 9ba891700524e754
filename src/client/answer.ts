/**
 * Reads what a service answered: a JSON object, or a refusal.
 *
 * A refusal is read from our own envelope, and as far as possible from whatever else a service, or
 * something in front of it, may answer. What can't be read is not passed on, such as a page of HTML.
 */
import { CallFailure, type ErrorFacts } from "./failure.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** The JSON object that a call was answered. */
export function readAnswer(answer: Answer): object {
  const body = parse(answer.text);
  if (isObject(body)) {
    return body;
  }
  const message = `The service answered ${answer.status}, but not with a JSON object: is this its address?`;
  throw new CallFailure({ status: answer.status, code: "not_json", message, requestId: idOf(answer) });
}

/** A refusal in whatever form it came. */
export function readFailure(answer: Answer): CallFailure {
  const { status, headers } = answer;
  const body = parse(answer.text);
  const members = isObject(body) ? body : {};
  const inner = isObject(members.error) ? members.error : members;
  const isOurs = isObject(members.error) && [inner.type, inner.code, inner.message].every(isString);
  const error = isOurs ? (inner as ErrorFacts) : undefined; // the members that every failure has were just seen
  return new CallFailure({
    status,
    code: find([inner.code, inner.type, members.error], /^[\w.-]{1,64}$/) ?? `http_${status}`,
    message:
      find(
        [inner.message, inner.detail, inner.title, members.error_description],
        /^(?!\s*<)[\s\S]{1,20000}$/,
      ) ?? CallFailure.sentenceOf(status),
    error,
    requestId: idOf(answer) ?? find([inner.request_id], /^[\w.-]{1,64}$/),
    retryAfterSeconds: readRetryAfter(headers["retry-after"]),
  });
}

function idOf({ headers }: Answer): string | undefined {
  return find([headers["x-request-id"]], /^[\w.-]{1,64}$/);
}

/** Seconds, or a date. */
function readRetryAfter(header: string | string[] | undefined): number | undefined {
  const text = String(header ?? "");
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, Math.ceil(seconds)) : undefined;
}

function find(candidates: readonly unknown[], form: RegExp): string | undefined {
  return candidates.filter(isString).find((text) => form.test(text));
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
