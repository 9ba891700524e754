/**
 * Writes the HTTP request of an operation: which field goes into the path, the query or the body, and how.
 */
import type { Readable } from "node:stream";
import type { OperationRequest } from "../ports/transport/operation-request.ts";
import { CallFailure } from "./failure.ts";
import { writeMultipart } from "./multipart.ts";

export interface WrittenRequest extends Pick<OperationRequest, "method" | "headers"> {
  readonly path: string;
  /** A function opens the stream again for each attempt. */
  readonly body: string | null | (() => Readable);
}

export function writeRequest({ method, path, headers, fields, file }: OperationRequest): WrittenRequest {
  const rest: Record<string, unknown> = { ...fields };
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    delete rest[name];
    return encodeURIComponent(String(fields[name]));
  });
  if (method === "GET" || method === "DELETE") {
    return { method, path: filled + toQueryString(rest), headers, body: null };
  }
  if (file) {
    const { type, body, length } = writeMultipart(rest, file);
    const sized = { ...headers, "content-type": type, "content-length": String(length) };
    return { method, path: filled, headers: sized, body };
  }
  const typed = { ...headers, "content-type": "application/json" };
  return { method, path: filled, headers: typed, body: JSON.stringify(rest) };
}

/**
 * Checks that each field of the path is one segment. Dot segments are rejected: a proxy that resolves them
 * would reach another operation.
 * @throws CallFailure
 */
export function requirePathFields({ path, fields }: Pick<OperationRequest, "path" | "fields">): void {
  for (const [, name = ""] of path.matchAll(/\{(\w+)\}/g)) {
    const text = String(fields[name] ?? "");
    if (/^\.{0,2}$/.test(text)) {
      throw new CallFailure({
        status: 400,
        code: "invalid_request",
        message: `The request is not valid: ${name}: "${text}" is not an id.`,
      });
    }
  }
}

/** Lists and objects are sent as JSON. */
function toQueryString(fields: Readonly<Record<string, unknown>>): string {
  const written = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined && value !== null) {
      written.set(name, typeof value === "object" ? JSON.stringify(value) : String(value));
    }
  }
  const text = written.toString();
  return text === "" ? "" : `?${text}`;
}
