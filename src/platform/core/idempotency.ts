/**
 * Once per key: the answer is stored in the effect's own transaction, so either both are there or neither.
 *
 * A twin that runs at the same time waits at the unique key until the first one commits, and is then
 * given the stored answer; if the first one failed without an answer worth keeping, the twin runs.
 */
import { createHash } from "node:crypto";
import { sql } from "kysely";
import { Failure, fail } from "../../../tools/failure.ts";
import type { Queries, Transaction } from "../../database/database.ts";
import type { Work } from "./module.ts";
import { seal, unseal } from "./seal.ts";

const keptMs = 24 * 3_600_000;

export interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly isReplay: boolean;
}

export interface Claim {
  readonly organization_id: string;
  readonly credential_id: string;
  readonly route: string;
  readonly key: string;
  readonly request_hash: string;
}

/** How an answer is written down: one that shows a secret is not kept in clear. */
export interface Keeping {
  write(body: unknown): string;
  read(stored: unknown): unknown;
}

export const keepClear: Keeping = { write: (body) => JSON.stringify(body), read: (stored) => stored };

export function keepSealed(secret: string): Keeping {
  return {
    write: (body) => JSON.stringify(seal(secret, JSON.stringify(body))),
    read: (stored) => JSON.parse(unseal(secret, String(stored))),
  };
}

/** The same for the same content, whatever the order of its members. */
export function hashRequest(...content: unknown[]): string {
  return createHash("sha256").update(JSON.stringify(content, sortMembers)).digest("base64url");
}

function sortMembers(_: string, value: unknown): unknown {
  const isPlain = typeof value === "object" && value !== null && !Array.isArray(value);
  return isPlain ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value;
}

/** Runs `effect` unless its key has an answer already, and keeps the answer. */
export async function once(
  tx: Transaction,
  { now, keeping, ...claim }: Claim & { readonly now: Date; readonly keeping: Keeping },
  effect: () => Promise<{ status: number; body: unknown }>,
): Promise<Answer> {
  await forgetExpired(tx, claim, now);
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto("idempotency")
    .values({ ...claim, status: null, body: null, created_at: now.toISOString() })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  if (!numInsertedOrUpdatedRows) {
    return replay(tx, claim, keeping);
  }
  const answer = await attempt(tx, effect);
  await rows(tx, claim)
    .set({ status: answer.status, body: keeping.write(answer.body) })
    .execute();
  return { ...answer, isReplay: false };
}

/** The answer that is stored under a key, if there is one. @throws Failure `idempotency_key_reused`. */
export async function recall(
  db: Queries,
  { now, keeping, ...claim }: Claim & { readonly now: Date; readonly keeping: Keeping },
): Promise<Answer | undefined> {
  const stored = await find(db, claim)
    .where("created_at", ">=", new Date(now.getTime() - keptMs).toISOString())
    .executeTakeFirst();
  return stored && read(stored, claim, keeping);
}

async function replay(tx: Transaction, claim: Claim, keeping: Keeping): Promise<Answer> {
  return read(await find(tx, claim).executeTakeFirstOrThrow(), claim, keeping);
}

function find(db: Queries, claim: Claim) {
  return db
    .selectFrom("idempotency")
    .select(["request_hash", "status", "body"])
    .where("organization_id", "=", claim.organization_id)
    .where("credential_id", "=", claim.credential_id)
    .where("route", "=", claim.route)
    .where("key", "=", claim.key);
}

interface Stored {
  readonly request_hash: string;
  readonly status: number | null;
  readonly body: unknown;
}

function read(stored: Stored, claim: Claim, keeping: Keeping): Answer {
  if (stored.request_hash !== claim.request_hash) {
    throw fail("idempotency_key_reused");
  }
  return { status: stored.status ?? 200, body: keeping.read(stored.body), isReplay: true };
}

/** Runs the effect; a refusal that another try would meet again is undone and becomes the answer. */
async function attempt(
  tx: Transaction,
  effect: () => Promise<{ status: number; body: unknown }>,
): Promise<{ status: number; body: unknown }> {
  await sql`savepoint effect`.execute(tx);
  try {
    return await effect();
  } catch (error) {
    if (!(error instanceof Failure) || !isKept(error.status)) {
      throw error;
    }
    await sql`rollback to savepoint effect`.execute(tx);
    return { status: error.status, body: error.body() };
  }
}

/** What depends on the credential, the moment or our own health may be different next time. */
function isKept(status: number): boolean {
  return status < 500 && status !== 401 && status !== 403 && status !== 429;
}

async function forgetExpired(tx: Transaction, claim: Claim, now: Date): Promise<void> {
  await tx
    .deleteFrom("idempotency")
    .where("organization_id", "=", claim.organization_id)
    .where("credential_id", "=", claim.credential_id)
    .where("route", "=", claim.route)
    .where("key", "=", claim.key)
    .where("created_at", "<", new Date(now.getTime() - keptMs).toISOString())
    .execute();
}

export const forgetAnswers: Work<unknown> = {
  name: "answer.forget",
  schedule: "37 * * * *",

  async run(_, world) {
    const before = new Date(world.now().getTime() - keptMs).toISOString();
    await world.database.queries.deleteFrom("idempotency").where("created_at", "<", before).execute();
    return undefined;
  },
};

function rows(tx: Transaction, claim: Claim) {
  return tx
    .updateTable("idempotency")
    .where("organization_id", "=", claim.organization_id)
    .where("credential_id", "=", claim.credential_id)
    .where("route", "=", claim.route)
    .where("key", "=", claim.key);
}
