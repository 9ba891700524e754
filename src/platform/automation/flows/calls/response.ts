/** Reads the result of a call: the part of a response that a run keeps, or the code of the error. */
import type { FlowCallResult } from "../../../../database/schema/index.ts";
import type { FailedRequest, ForbiddenRequest, WebResponse } from "../../../../ports/web.ts";
import { createRedactor, type Redactor } from "./redact.ts";

/** A longer body is cut, and is kept as text. */
export const maxResponseBytes = 65_536;

/** A limit, because PostgreSQL's JSON parser is recursive. */
const maxDepth = 100;

/** Removes `secrets` from the response: some endpoints echo requests, and variables are shown. */
export function toCallResult(response: WebResponse, secrets: readonly string[]): FlowCallResult {
  if (response.outcome !== "answered") {
    return { error: response.outcome === "failed" ? failureCode(response) : forbiddenCode(response) };
  }
  const { status, headers } = response;
  return { status, body: readBody(response, headers["content-type"] ?? "", createRedactor(secrets)) };
}

function failureCode({ reason }: FailedRequest): string {
  return reason === "timeout" ? "http_timeout" : "http_unreachable";
}

function forbiddenCode({ reason }: ForbiddenRequest): string {
  return reason === "header" || reason === "url" ? "http_request_invalid" : "http_forbidden_address";
}

/** Returns a JSON value or a text; null if the body is empty. */
function readBody(
  { body, isCut }: Extract<WebResponse, { readonly outcome: "answered" }>,
  type: string,
  redact: Redactor,
): unknown {
  const text = new TextDecoder().decode(body);
  if (text.trim() === "") {
    return null;
  }
  const isJson = /[/+]json\b/i.test(type) || /^\s*[[{]/.test(text);
  const parsed = isJson ? parseJson(text) : undefined;
  if (parsed !== undefined) {
    return redactValue(parsed, redact);
  }
  const storable = toStorable(text);
  return isCut ? redact.cut(storable) : redact(storable);
}

/** Returns undefined for a text that is not JSON, or is nested too deeply. */
function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isTooDeep(value) ? undefined : value;
  } catch {
    return undefined;
  }
}

/** Checks level by level and not recursively, because the depth is unknown. */
function isTooDeep(value: unknown): boolean {
  let level = [value];
  for (let depth = 0; depth <= maxDepth && level.length > 0; depth += 1) {
    level = level.flatMap((one) => (typeof one === "object" && one !== null ? Object.values(one) : []));
  }
  return level.length > 0;
}

/** Removes what PostgreSQL can't store: zero bytes and halves of surrogate pairs. */
function toStorable(text: string): string {
  return text.replaceAll("\0", "").toWellFormed();
}

function redactValue(value: unknown, redact: Redactor): unknown {
  if (typeof value === "string") {
    return redact(toStorable(value));
  }
  if (Array.isArray(value)) {
    return value.map((one) => redactValue(one, redact));
  }
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value);
    return Object.fromEntries(
      members.map(([name, member]) => [redact(toStorable(name)), redactValue(member, redact)]),
    );
  }
  const hidden = typeof value === "number" ? redact(String(value)) : "";
  return typeof value === "number" && hidden !== String(value) ? hidden : value;
}
