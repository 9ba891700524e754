/** The signatures of the payment processor: an HMAC-SHA256 in hexadecimal. */
import { createHmac, timingSafeEqual } from "node:crypto";

export function sign(secret: string, message: string | Uint8Array): string {
  return createHmac("sha256", secret).update(message).digest("hex");
}

/** Compares signatures in constant time. */
export function isSignature(secret: string, message: string | Uint8Array, signature: string): boolean {
  const [expected, given] = [Buffer.from(sign(secret, message)), Buffer.from(signature)];
  return expected.length === given.length && timingSafeEqual(expected, given);
}

/** The text that checkout signs with the key's secret. */
export function checkoutMessage(order_id: string, payment_id: string): string {
  return `${order_id}|${payment_id}`;
}
