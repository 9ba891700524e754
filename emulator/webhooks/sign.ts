/** The body of a webhook and its signature. */
import { createHmac } from "node:crypto";

/** Meta escapes every character beyond ASCII in the bytes that it signs and sends. */
export function serialize(payload: unknown): Buffer {
  const json = JSON.stringify(payload).replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return Buffer.from(json, "latin1");
}

/** The value of X-Hub-Signature-256. */
export function sign(body: Buffer, appSecret: string): string {
  return `sha256=${createHmac("sha256", appSecret).update(body).digest("hex")}`;
}
