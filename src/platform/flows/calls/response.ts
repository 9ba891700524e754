/** Reads the result of a call: what a run keeps of a response, or the code of the error. */
import type { FlowCallResult } from "../../../database/schema/index.ts";
import type { FailedRequest, ForbiddenRequest, WebResponse } from "../../../ports/web.ts";

/** A longer body is cut, and so is text. */
export const maxResponseBytes = 65_536;

/** PostgreSQL's parser of JSON is recursive. */
const maxDepth = 100;

/** A shorter secret may be a part of other words. */
const minSecretLength = 6;

/** `secrets` are left out of the response: endpoints that echo requests exist, and variables are shown. */
export function toCallResult(response: WebResponse, secrets: readonly string[]): FlowCallResult {
  if (response.outcome !== "answered") {
    return { error: response.outcome === "failed" ? failureCode(response) : forbiddenCode(response) };
  }
  const { status, headers, body } = response;
  return { status, body: readBody(body, headers["content-type"] ?? "", secrets) };
}

function failureCode({ reason }: FailedRequest): string {
  return reason === "timeout" ? "http_timeout" : "http_unreachable";
}

function forbiddenCode({ reason }: ForbiddenRequest): string {
  return reason === "header" || reason === "url" ? "http_request_invalid" : "http_forbidden_address";
}

/** A JSON value, or a text; null if it is empty. */
function readBody(body: Uint8Array, type: string, secrets: readonly string[]): unknown {
  const text = new TextDecoder().decode(body);
  const redact = createRedact(secrets);
  if (text.trim() === "") {
    return null;
  }
  const isJson = /[/+]json\b/i.test(type) || /^\s*[[{]/.test(text);
  const parsed = isJson ? parseJson(text) : undefined;
  return parsed === undefined ? redact(text) : redactValue(parsed, redact);
}

/** Undefined for a text that is not JSON, or too deep. */
function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isTooDeep(value) ? undefined : value;
  } catch {
    return undefined;
  }
}

/** Level by level, because the depth is not known. */
function isTooDeep(value: unknown): boolean {
  let level = [value];
  for (let depth = 0; depth <= maxDepth && level.length > 0; depth += 1) {
    level = level.flatMap((one) => (typeof one === "object" && one !== null ? Object.values(one) : []));
  }
  return level.length > 0;
}

/** Also leaves out what PostgreSQL can't store: zero bytes and halves of surrogate pairs. */
function createRedact(secrets: readonly string[]): (text: string) => string {
  const hidden = secrets.filter(({ length }) => length >= minSecretLength);
  return (text) =>
    hidden
      .reduce((shown, secret) => shown.replaceAll(secret, "***"), text.replaceAll("\0", ""))
      .toWellFormed();
}

function redactValue(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === "string") {
    return redact(value);
  }
  if (Array.isArray(value)) {
    return value.map((one) => redactValue(one, redact));
  }
  return typeof value === "object" && value !== null
    ? Object.fromEntries(
        Object.entries(value).map(([name, member]) => [redact(name), redactValue(member, redact)]),
      )
    : value;
}
