/** Secrets that the service issues: random, shown once, stored as a hash. */
import { createHash, randomBytes } from "node:crypto";

export const keyPrefix = "sk_live_";

export function newKeySecret(): string {
  return keyPrefix + randomSecret();
}

export function randomSecret(): string {
  return randomBytes(32).toString("base64url");
}

/** A fast hash is enough for 256 random bits. */
export function hashSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("base64url");
}

export function isExpired(row: { expires_at: string | null }, now: Date): boolean {
  return row.expires_at !== null && Date.parse(row.expires_at) <= now.getTime();
}
