/** Secrets that the house hands out: random, shown once, kept as their hash. */
import { createHash, randomBytes } from "node:crypto";

export const keyMarker = "sk_live_";

export function newKeySecret(): string {
  return keyMarker + randomSecret();
}

export function randomSecret(): string {
  return randomBytes(32).toString("base64url");
}

/** 256 random bits need no slow hash. */
export function hashSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("base64url");
}

export function isExpired(row: { expires_at: string | null }, now: Date): boolean {
  return row.expires_at !== null && Date.parse(row.expires_at) <= now.getTime();
}
