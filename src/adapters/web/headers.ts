/** Checks and writes request headers. Reads and checks response headers. */
import type { ForbiddenRequest, WebRequest } from "../../ports/web.ts";
import type { HttpHeaders } from "../http-client/index.ts";
import { BodyTooLargeError, MalformedResponseError } from "./failures.ts";
import { forbid } from "./rules.ts";

type Headers = NonNullable<WebRequest["headers"]>;

/** Headers that control the connection, frame the body, name another host, or request compression. */
const reservedHeaders = new Set([
  "accept-encoding",
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

export function checkRequestHeaders(headers: Headers): ForbiddenRequest | undefined {
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) {
      return forbid("header", "A header's name takes letters, digits and hyphens.");
    }
    if (reservedHeaders.has(name.toLowerCase())) {
      return forbid("header", `The header ${name} is set by the service itself.`);
    }
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      return forbid("header", `The header ${name} holds a character that no header may hold.`);
    }
  }
  return undefined;
}

/** Adds the headers that every request has. A user agent of the customer takes precedence. */
export function writeHeaders(headers: Headers): Record<string, string> {
  const hasUserAgent = Object.keys(headers).some((name) => name.toLowerCase() === "user-agent");
  // Requests no compression, so that nothing must be decompressed and there are no decompression bombs.
  return { ...(hasUserAgent ? {} : { "user-agent": "tidings" }), ...headers, "accept-encoding": "identity" };
}

export function readHeaders(headers: HttpHeaders): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value = ""]) => [name, [value].flat().join(", ")]);
  return Object.fromEntries(entries);
}

/**
 * Rejects a body before it is read if its declared length is too large, or if it is compressed although that
 * was not requested.
 */
export function checkBodyHeaders(headers: Readonly<Record<string, string>>, maxBytes: number): void {
  if (Number(headers["content-length"] ?? 0) > maxBytes) {
    throw new BodyTooLargeError();
  }
  if (!/^(?:identity)?$/i.test(headers["content-encoding"] ?? "")) {
    throw new MalformedResponseError("compressed");
  }
}
