/**
 * Once per key: the answer is stored in the effect's own transaction, so either both are there or neither.
 *
 * A twin that runs at the same time waits at the unique key until the first one commits, and is then
 * given the stored answer; if the first one failed without an answer worth keeping, the twin runs.
 */
import { createHmac } from "node:crypto";
import { sql } from "kysely";
import { Failure } from "../../../tools/contract/index.ts";
import { fail } from "../../../tools/errors.ts";
import type { Queries, Transaction } from "../../database/database.ts";
import type { World } from "./context.ts";
import type { ModuleJob } from "./module.ts";
import { seal, secretsOf, unseal } from "./seal.ts";

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
}

/** A request that may come again: under which key, and by what it is known. */
export interface Repeatable {
  readonly claim: Claim;
  /** The hash that is kept, and those by which it is known too. */
  readonly hashes: readonly string[];
  readonly keeping: Keeping;
  readonly now: Date;
}

/** How an answer is written down: one that shows a secret is not kept in clear. */
export interface Keeping {
  write(body: unknown): string;
  read(stored: unknown): unknown;
}

type Secrets = Pick<World, "secret" | "previousSecret">;

export const keepClear: Keeping = { write: (body) => JSON.stringify(body), read: (stored) => stored };

export function keepSealed(world: Secrets): Keeping {
  const secrets = secretsOf(world);
  return {
    write: (body) => JSON.stringify(seal(secrets[0], JSON.stringify(body))),
    read: (stored) => JSON.parse(unseal(secrets, String(stored))),
  };
}

/**
 * The same for the same content, whatever the order of its members; and what it was under the secret before.
 * Under a secret, because a request may hold a password, which a plain hash would let be guessed at.
 */
export function hashRequest(world: Secrets, ...content: unknown[]): readonly string[] {
  const text = JSON.stringify(content, sortMembers);
  return secretsOf(world).map((secret) =>
    createHmac("sha256", `request:${secret}`).update(text).digest("base64url"),
  );
}

function sortMembers(_: string, value: unknown): unknown {
  const isPlain = typeof value === "object" && value !== null && !Array.isArray(value);
  return isPlain ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value;
}

/** Runs `effect` unless its key has an answer already, and keeps the answer. */
export async function once(
  tx: Transaction,
  { claim, hashes, keeping, now }: Repeatable,
  effect: () => Promise<{ status: number; body: unknown }>,
): Promise<Answer> {
  await forgetExpired(tx, claim, now);
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto("idempotency")
    .values({
      ...claim,
      request_hash: hashes[0] ?? "",
      status: null,
      body: null,
      created_at: now.toISOString(),
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  if (!numInsertedOrUpdatedRows) {
    return replay(tx, { claim, hashes, keeping });
  }
  const answer = await attempt(tx, effect);
  await rows(tx, claim)
    .set({ status: answer.status, body: keeping.write(answer.body) })
    .execute();
  return { ...answer, isReplay: false };
}

/** The answer that is stored under a key, if there is one. @throws Failure `idempotency_key_reused`. */
export async function recall(db: Queries, { now, ...request }: Repeatable): Promise<Answer | undefined> {
  const stored = await find(db, request.claim)
    .where("created_at", ">=", new Date(now.getTime() - keptMs).toISOString())
    .executeTakeFirst();
  return stored && read(stored, request);
}

async function replay(tx: Transaction, request: Omit<Repeatable, "now">): Promise<Answer> {
  return read(await find(tx, request.claim).executeTakeFirstOrThrow(), request);
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

function read(stored: Stored, { hashes, keeping }: Pick<Repeatable, "hashes" | "keeping">): Answer {
  if (!hashes.includes(stored.request_hash)) {
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

export const forgetAnswers: ModuleJob<unknown> = {
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
