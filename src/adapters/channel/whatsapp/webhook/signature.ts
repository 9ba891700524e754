/** The signature of Meta's webhooks: an HMAC-SHA256 over the bytes as they were sent. */
import { createHmac, timingSafeEqual } from "node:crypto";

/** Compares in constant time. */
export function isSigned(appSecret: string, body: Uint8Array, header: string): boolean {
  const expected = Buffer.from(`sha256=${createHmac("sha256", appSecret).update(body).digest("hex")}`);
  const given = Buffer.from(header);
  return expected.length === given.length && timingSafeEqual(expected, given);
}

/** Compares texts of any length in constant time. */
export function isSameText(one: string, other: string): boolean {
  const digest = (text: string) => createHmac("sha256", "compare").update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
