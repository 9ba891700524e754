/** The id of a request, in the header `X-Request-Id` and the body of each error. */
import { randomUUID } from "node:crypto";

/** Accepts the caller's request id if it is safe to log. */
export function toRequestId(header: string | string[] | undefined): string {
  return typeof header === "string" && /^[\w.-]{1,64}$/.test(header) ? header : `req_${randomUUID()}`;
}
