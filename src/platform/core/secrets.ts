/** Secrets that the house hands out: random, shown once, kept as their hash. */
import { createHash, randomBytes } from "node:crypto";
import type { World } from "./world.ts";

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

/** The house's own secrets: the one that signs and seals, and after it the one that it replaced. */
export function secretsOf({ secret, previousSecret }: Pick<World, "secret" | "previousSecret">) {
  return previousSecret === undefined ? ([secret] as const) : ([secret, previousSecret] as const);
}
