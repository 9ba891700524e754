/**
 * Signs deliveries: with the header of the specification and, with the same secret, the headers of Standard
 * Webhooks.
 */
import { createHmac, randomBytes } from "node:crypto";

const secretPrefix = "whsec_";

/** A prefix and 32 random bytes in base64, the format of Standard Webhooks. */
export function newSigningSecret(): string {
  return secretPrefix + randomBytes(32).toString("base64");
}

export interface SignatureInput {
  /** The event's id, the same in every attempt. */
  readonly id: string;
  readonly body: string;
  readonly now: Date;
  /** The current secret, followed by the previous one for a while after a rotation. */
  readonly secrets: readonly [string, ...string[]];
}

/**
 * The headers of a delivery. The specification's header holds one signature, made with the current secret.
 */
export function signDelivery({ id, body, now, secrets }: SignatureInput): Record<string, string> {
  const timestamp = Math.floor(now.getTime() / 1000).toString();
  return {
    "content-type": "application/json",
    "user-agent": "Tidings-Webhooks",
    // The key is the whole text of the secret, including its prefix.
    "x-webhook-signature": createHmac("sha256", secrets[0]).update(body).digest("hex"),
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": secrets
      .map((secret) => `v1,${signStandard(secret, `${id}.${timestamp}.${body}`)}`)
      .join(" "),
  };
}

function signStandard(secret: string, content: string): string {
  const key = Buffer.from(secret.slice(secretPrefix.length), "base64");
  return createHmac("sha256", key).update(content).digest("base64");
}
