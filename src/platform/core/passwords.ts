/** Passwords: argon2id, and the same time for an address that is unknown. */
import { hash, verify } from "@node-rs/argon2";

/** 19 MiB and two passes: OWASP's minimum for argon2id, about 20 ms here. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

export function hashPassword(password: string): Promise<string> {
  return hash(password, cost);
}

let decoy: Promise<string> | undefined;

/** Whether the password is right; without a hash it takes as long and is wrong. */
export async function isPassword(password: string, stored: string | undefined): Promise<boolean> {
  decoy ??= hashPassword("decoy");
  const isRight = await verify(stored ?? (await decoy), password);
  return stored !== undefined && isRight;
}
