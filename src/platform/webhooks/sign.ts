/** Signs what is sent: by the specification's header and, from the same secret, by Standard Webhooks. */
import { createHmac, randomBytes } from "node:crypto";

const secretPrefix = "whsec_";

/** Base64 behind the marker, as Standard Webhooks wants it. */
export function newSigningSecret(): string {
  return secretPrefix + randomBytes(32).toString("base64");
}

export interface SignatureInput {
  /** The event's id, the same over every try. */
  readonly id: string;
  readonly body: string;
  readonly now: Date;
  /** The current secret first; behind it, after a rotation, the one before. */
  readonly secrets: readonly [string, ...string[]];
}

/** The headers of a delivery. The specification's is one value, so it is made with the current secret. */
export function signDelivery({ id, body, now, secrets }: SignatureInput): Record<string, string> {
  const timestamp = Math.floor(now.getTime() / 1000).toString();
  return {
    "content-type": "application/json",
    "user-agent": "Tidings-Webhooks",
    // The whole secret as it is written, marker and all.
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
