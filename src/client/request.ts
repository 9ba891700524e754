/** Writes the HTTP request of an operation: which field goes into the path, the query or the body, and how. */
import { randomUUID } from "node:crypto";
import type { Readable } from "node:stream";
import type { Operation } from "../../tools/contract/index.ts";
import { CallFailure } from "./failure.ts";
import { type FileToSend, writeMultipart } from "./multipart.ts";

export interface HttpRequest {
  readonly method: Operation["method"];
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A function opens the stream again for each attempt. */
  readonly body: string | null | (() => Readable);
}

interface RequestOptions {
  readonly idempotencyKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly file?: FileToSend;
}

/** @throws CallFailure for a value that can't be a path segment. */
export function writeRequest(
  { method, path, encoding }: Pick<Operation, "method" | "path"> & Partial<Pick<Operation, "encoding">>,
  input: Readonly<Record<string, unknown>>,
  { idempotencyKey, headers: extraHeaders, file }: RequestOptions,
): HttpRequest {
  const rest: Record<string, unknown> = { ...input };
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    delete rest[name];
    return toPathSegment(name, input[name]);
  });
  const headers: Record<string, string> = { ...extraHeaders, accept: "application/json" };
  if (method !== "GET") {
    // One key for all attempts, so that they are executed once.
    headers["idempotency-key"] = idempotencyKey ?? randomUUID();
  }
  if (method === "GET" || method === "DELETE") {
    return { method, path: filled + toQueryString(rest), headers, body: null };
  }
  const form = encoding === "multipart" ? writeMultipart(rest, file) : undefined;
  if (form) {
    const { type, body, length } = form;
    const sized = { ...headers, "content-type": type, "content-length": String(length) };
    return { method, path: filled, headers: sized, body };
  }
  headers["content-type"] = "application/json";
  return { method, path: filled, headers, body: JSON.stringify(rest) };
}

/** One path segment. Dot segments are rejected: a proxy that resolves them would reach another operation. */
function toPathSegment(name: string, value: unknown): string {
  const text = String(value ?? "");
  if (/^\.{0,2}$/.test(text)) {
    throw new CallFailure({
      status: 400,
      code: "invalid_request",
      message: `The request is not valid: ${name}: "${text}" is not an id.`,
    });
  }
  return encodeURIComponent(text);
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
