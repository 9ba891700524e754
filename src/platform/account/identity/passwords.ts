/**
 * Passwords, hashed with argon2id. Verification takes as long for an unknown user as for a known one.
 *
 * Only a few hashes are computed at once, and organizations take turns: each hash takes a core for a while,
 * and one of the four threads that are also used for files and name look-ups.
 */
import { randomBytes } from "node:crypto";
import { hash, verify } from "@node-rs/argon2";
import { fail } from "../../../../tools/errors.ts";
import { FairQueue, NoFreePlaceError } from "../../../database/sharing/index.ts";

/** 19 MiB and two passes: OWASP's minimum for argon2id, about 20 ms here. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** A hash at the same cost that no password matches. A constant, so that it never needs to be computed. */
const dummyHash = `$argon2id$v=19$m=${cost.memoryCost},t=${cost.timeCost},p=${cost.parallelism}$${"A".repeat(22)}$${"A".repeat(43)}`;

const queue = new FairQueue({ size: 2, timeoutMs: 10_000, place: "place for a password's hash" });

/** It begins with a letter or a digit: a command would read a text that begins with - as an option. */
export function newPassword(): string {
  const password = randomBytes(12).toString("base64url");
  return /^[A-Za-z\d]/.test(password) ? password : newPassword();
}

/** @throws Failure `unavailable` if too many passwords are being hashed. */
export function hashPassword(password: string): Promise<string> {
  return inTurn(() => hash(password, cost));
}

/**
 * Whether the password matches `storedHash`. Undefined never matches, but takes as long.
 * @throws Failure `unavailable` if too many passwords are being hashed.
 */
export async function verifyPassword(password: string, storedHash: string | undefined): Promise<boolean> {
  const isMatch = await inTurn(() => verify(storedHash ?? dummyHash, password));
  return storedHash !== undefined && isMatch;
}

async function inTurn<Result>(compute: () => Promise<Result>): Promise<Result> {
  const release = await queue.acquire().catch((error: unknown) => {
    throw error instanceof NoFreePlaceError
      ? fail("unavailable", { reason: "it is checking many passwords.", retry_after: 1 }, error)
      : error;
  });
  try {
    return await compute();
  } finally {
    release();
  }
}
