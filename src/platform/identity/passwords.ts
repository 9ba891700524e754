/** Passwords: hashed with argon2id; verification takes as long for an unknown user as for a known one. */
import { randomBytes } from "node:crypto";
import { hash, verify } from "@node-rs/argon2";

/** 19 MiB and two passes: OWASP's minimum for argon2id, about 20 ms here. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** A hash at the same cost that no password matches. A constant, so that it never needs to be computed. */
const dummyHash = `$argon2id$v=19$m=${cost.memoryCost},t=${cost.timeCost},p=${cost.parallelism}$${"A".repeat(22)}$${"A".repeat(43)}`;

export function newPassword(): string {
  return randomBytes(12).toString("base64url");
}

export function hashPassword(password: string): Promise<string> {
  return hash(password, cost);
}

/** Whether the password matches `storedHash`; undefined never matches, and takes as long. */
export async function verifyPassword(password: string, storedHash: string | undefined): Promise<boolean> {
  const isMatch = await verify(storedHash ?? dummyHash, password);
  return storedHash !== undefined && isMatch;
}
