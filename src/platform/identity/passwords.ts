/** Passwords: argon2id, and the same time for an address that is unknown. */
import { randomBytes } from "node:crypto";
import { hash, verify } from "@node-rs/argon2";

/** 19 MiB and two passes: OWASP's minimum for argon2id, about 20 ms here. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** No password's hash, at the same cost: made by nobody, so that not even the first look-up takes longer. */
const decoy = `$argon2id$v=19$m=${cost.memoryCost},t=${cost.timeCost},p=${cost.parallelism}$${"A".repeat(22)}$${"A".repeat(43)}`;

export function newPassword(): string {
  return randomBytes(12).toString("base64url");
}

export function hashPassword(password: string): Promise<string> {
  return hash(password, cost);
}

/** Whether the password is right; without a hash it takes as long and is wrong. */
export async function isPassword(password: string, stored: string | undefined): Promise<boolean> {
  const isRight = await verify(stored ?? decoy, password);
  return stored !== undefined && isRight;
}
