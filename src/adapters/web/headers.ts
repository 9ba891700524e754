/** The headers of a request, as customers may set them, and those of an answer, as the house reads them. */
import type { Dispatcher } from "undici";
import type { ForbiddenRequest, WebRequest } from "../../ports/web.ts";
import { forbid } from "./rules.ts";

type Headers = NonNullable<WebRequest["headers"]>;

/** They belong to the connection, say where the body ends, name another host, or ask for compression. */
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

/** With what every request says, unless the customer says otherwise. */
export function writeHeaders(headers: Headers): Record<string, string> {
  const isNamed = Object.keys(headers).some((name) => name.toLowerCase() === "user-agent");
  // Compression is not asked for: so nothing has to be unpacked, and no small answer becomes a huge one.
  return { ...(isNamed ? {} : { "user-agent": "tidings" }), ...headers, "accept-encoding": "identity" };
}

export function readHeaders(headers: Dispatcher.ResponseData["headers"]): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value = ""]) => [name, [value].flat().join(", ")]);
  return Object.fromEntries(entries);
}
