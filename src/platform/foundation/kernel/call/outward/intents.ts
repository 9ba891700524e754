/**
 * Intents: rows that are committed before a third party is called, with the request's idempotency key.
 *
 * A row exists while the call runs, and its process extends `running_until`. The transaction that stores the
 * response deletes the row. So a row whose time has passed belongs to a call whose process died: whether the
 * third party received the call is not known.
 */
import { randomUUID } from "node:crypto";
import type { ExpressionBuilder } from "kysely";
import { fail } from "../../../../../../tools/errors.ts";
import type { Queries } from "../../../../../database/database.ts";
import type { Tables } from "../../../../../database/schema/index.ts";
import { type Actor, type IdempotencyKey, recordOf } from "../../actor.ts";
import type { OutwardClaim } from "../../planned.ts";
import type { Transaction } from "../../transaction.ts";
import {
  type CallResponse,
  findStoredResponse,
  type IdempotentRequest,
  storeResponse,
} from "../idempotency/index.ts";
import { runningUntil } from "./claim.ts";

/** What a call whose process died has stored. */
export interface StoredIntent {
  readonly actor: Pick<Actor, "type" | "id" | "name">;
  readonly intent: unknown;
}

/** The row of a call, until another call takes it over. */
export interface OwnIntent {
  readonly key: IdempotencyKey;
  readonly owner: string;
}

type OpenedIntent =
  /** No earlier call has used the key: this call may call the third party after its commit. */
  | { readonly state: "new"; readonly own: OwnIntent }
  | { readonly state: "answered"; readonly response: CallResponse }
  /** The process of an earlier call died. This call has taken its intent over, and must end it. */
  | { readonly state: "abandoned"; readonly own: OwnIntent; readonly stored: StoredIntent };

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
  const own = { key: idempotencyKey, owner: randomUUID() };
  // Inserted first: a call that ends at the same time deletes its row and stores its response together.
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto("outward_calls")
    .values({
      ...idempotencyKey,
      operation,
      request_hash: hashes[0] ?? "",
      intent: "null",
      owner: own.owner,
      actor: JSON.stringify(recordOf(actor)),
      running_until: runningUntil(now),
      created_at: now.toISOString(),
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  if (numInsertedOrUpdatedRows) {
    const response = await findStoredResponse(tx, request);
    if (!response) {
      return { state: "new", own };
    }
    await closeIntent(tx, own);
    return { state: "answered", response };
  }
  const taken = await takeOver(tx, request);
  if (!taken) {
    throw fail("request_in_progress", { retry_after: 1 });
  }
  return { state: "abandoned", ...taken };
}

/**
 * Takes over the intent of a process that died. Returns undefined if the call is running or has ended.
 * @throws Failure `idempotency_key_reused`.
 */
export async function takeOver(
  tx: Transaction,
  { idempotencyKey, hashes, now }: Pick<IdempotentRequest, "idempotencyKey" | "hashes" | "now">,
): Promise<{ own: OwnIntent; stored: StoredIntent } | undefined> {
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
  const own = { key: idempotencyKey, owner: randomUUID() };
  await tx
    .updateTable("outward_calls")
    .set({ owner: own.owner, running_until: runningUntil(now) })
    .where(hasKey(idempotencyKey))
    .execute();
  return { own, stored: { actor: row.actor, intent: row.intent } };
}

/** Stores what a later process needs to look up the call. */
export async function saveIntent(tx: Transaction, own: OwnIntent, intent: unknown): Promise<void> {
  await tx
    .updateTable("outward_calls")
    .set({ intent: JSON.stringify(intent) })
    .where(isOwn(own))
    .execute();
}

/** Deletes the row. Returns false if another call has taken it over. */
export async function closeIntent(tx: Transaction, own: OwnIntent): Promise<boolean> {
  const { numDeletedRows } = await tx.deleteFrom("outward_calls").where(isOwn(own)).executeTakeFirst();
  return numDeletedRows > 0n;
}

/** The claim of a call with an idempotency key: the response is stored under the key. */
export function claimOfKey(request: IdempotentRequest, own: OwnIntent): OutwardClaim {
  return {
    close: (tx) => closeIntent(tx, own),
    async reopen(tx) {
      await closeIntent(tx, own);
    },
    findResponse: (tx) => findStoredResponse(tx, request),
    storeResponse: (tx, response) => storeResponse(tx, request, response),
    async renew(db, until) {
      await db.updateTable("outward_calls").set({ running_until: until }).where(isOwn(own)).execute();
    },
  };
}

/** The keys of calls whose process died, of operations with these names. */
export function findAbandoned(db: Queries, operations: readonly string[], now: Date) {
  return db
    .selectFrom("outward_calls")
    .select(["organization_id", "credential_id", "route", "key", "operation", "request_hash"])
    .where("running_until", "<", now.toISOString())
    .where("operation", "in", operations)
    .orderBy("running_until")
    .limit(100)
    .execute();
}

function hasKey(key: IdempotencyKey) {
  return (row: ExpressionBuilder<Tables, "outward_calls">) => row.and(keyColumns(key));
}

/** Drops other members that the object may have. */
function keyColumns({ organization_id, credential_id, route, key }: IdempotencyKey) {
  return { organization_id, credential_id, route, key };
}

function isOwn({ key, owner }: OwnIntent) {
  return (row: ExpressionBuilder<Tables, "outward_calls">) => row.and({ ...keyColumns(key), owner });
}
