/**
 * Intents: what is committed before a third party is called, under the request's idempotency key.
 *
 * A row exists while the call runs, and its process extends `running_until`. The transaction that stores the
 * response deletes the row. So a row whose time has passed is the call of a process that died: whether the third
 * party received it is not known.
 */
import type { ExpressionBuilder } from "kysely";
import { fail } from "../../../../tools/errors.ts";
import type { Queries, Transaction } from "../../../database/database.ts";
import type { Tables } from "../../../database/schema/index.ts";
import { recordOf } from "../actor.ts";
import type { Actor, IdempotencyKey, World } from "../context.ts";
import { type CallResponse, findStoredResponse, type IdempotentRequest } from "./idempotency.ts";

/** How long after a crash a call counts as running. */
const leaseMs = 10_000;
const renewEveryMs = 3_000;

/** What the call of a process that died has stored. */
export interface StoredIntent {
  readonly actor: Pick<Actor, "type" | "id" | "name">;
  readonly intent: unknown;
}

type OpenedIntent =
  /** No earlier call has used the key: this one may call the third party after its commit. */
  | { readonly state: "new" }
  | { readonly state: "answered"; readonly response: CallResponse }
  /** The process of an earlier call died. This call has taken its intent over, and must end it. */
  | { readonly state: "abandoned"; readonly stored: StoredIntent };

/**
 * Claims the key for a call.
 * @throws Failure `request_in_progress` while another call with the key runs, `idempotency_key_reused`.
 */
export async function openIntent(
  tx: Transaction,
  request: IdempotentRequest,
  { operation, actor }: { readonly operation: string; readonly actor: Actor },
): Promise<OpenedIntent> {
  const { idempotencyKey, hashes, now } = request;
  // Inserted first: a call that ends at the same time deletes its row and stores its response together.
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto("outward_calls")
    .values({
      ...{ ...idempotencyKey, operation, request_hash: hashes[0] ?? "", intent: "null" },
      actor: JSON.stringify(recordOf(actor)),
      running_until: leaseFrom(now),
      created_at: now.toISOString(),
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  if (numInsertedOrUpdatedRows) {
    const response = await findStoredResponse(tx, request);
    if (!response) {
      return { state: "new" };
    }
    await closeIntent(tx, idempotencyKey);
    return { state: "answered", response };
  }
  const stored = await takeOver(tx, request);
  if (!stored) {
    throw fail("request_in_progress", { retry_after: 1 });
  }
  return { state: "abandoned", stored };
}

/**
 * Takes over the intent of a process that died; undefined if the call is running or has ended.
 * @throws Failure `idempotency_key_reused`.
 */
export async function takeOver(
  tx: Transaction,
  { idempotencyKey, hashes, now }: Pick<IdempotentRequest, "idempotencyKey" | "hashes" | "now">,
): Promise<StoredIntent | undefined> {
  const row = await tx
    .selectFrom("outward_calls")
    .selectAll()
    .where(hasKey(idempotencyKey))
    .forUpdate()
    .executeTakeFirst();
  if (row && !hashes.includes(row.request_hash)) {
    throw fail("idempotency_key_reused");
  }
  if (!row || Date.parse(row.running_until) > now.getTime()) {
    return undefined;
  }
  await tx
    .updateTable("outward_calls")
    .set({ running_until: leaseFrom(now) })
    .where(hasKey(idempotencyKey))
    .execute();
  return { actor: row.actor, intent: row.intent };
}

/** Stores what a later process needs to look the call up. */
export async function saveIntent(tx: Transaction, key: IdempotencyKey, intent: unknown): Promise<void> {
  await tx
    .updateTable("outward_calls")
    .set({ intent: JSON.stringify(intent) })
    .where(hasKey(key))
    .execute();
}

/** Deletes the row; false if another process has ended the call. */
export async function closeIntent(tx: Transaction, key: IdempotencyKey): Promise<boolean> {
  const { numDeletedRows } = await tx.deleteFrom("outward_calls").where(hasKey(key)).executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Keeps the row's time in the future; call the result when the call has ended. */
export function keepRunning({ database, now, log }: World, key: IdempotencyKey): () => void {
  const timer = setInterval(() => {
    database.queries
      .updateTable("outward_calls")
      .set({ running_until: leaseFrom(now()) })
      .where(hasKey(key))
      .execute()
      .catch((error: unknown) => log.warn({ err: error }, "A running call could not be extended"));
  }, renewEveryMs);
  return () => clearInterval(timer);
}

/** The keys of calls whose process died, for operations of these names. */
export function findAbandoned(db: Queries, operations: readonly string[], now: Date) {
  return db
    .selectFrom("outward_calls")
    .select(["organization_id", "credential_id", "route", "key", "operation", "request_hash"])
    .where("running_until", "<", now.toISOString())
    .where("operation", "in", operations)
    .limit(100)
    .execute();
}

function leaseFrom(now: Date): string {
  return new Date(now.getTime() + leaseMs).toISOString();
}

function hasKey({ organization_id, credential_id, route, key }: IdempotencyKey) {
  return (row: ExpressionBuilder<Tables, "outward_calls">) =>
    row.and({ organization_id, credential_id, route, key });
}
