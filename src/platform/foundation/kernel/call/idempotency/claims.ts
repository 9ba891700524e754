/**
 * Stores the responses of requests with idempotency keys. A request that runs alone claims its key first, so
 * that another request with the key waits, and stores its response at the end. Requests that share a
 * transaction store their responses with one insert.
 */
import { sql } from "kysely";
import { columnsOf, matchesKey, recordset, rowsOf } from "../../../../../database/query/index.ts";
import type { IdempotencyKey } from "../../actor.ts";
import type { Transaction } from "../../transaction.ts";

export interface CallResponse {
  readonly status: number;
  readonly body: unknown;
  /** Whether an earlier call with the same key stored the response. */
  readonly isReplay: boolean;
}

/** A request that may be repeated. */
export interface IdempotentRequest {
  readonly idempotencyKey: IdempotencyKey;
  /**
   * From `hashRequest`. The first hash is stored. If the stored hash equals any of them, the request is the
   * same.
   */
  readonly hashes: readonly string[];
  readonly codec: ResponseCodec;
  readonly now: Date;
}

/** How a response's body is stored. */
export interface ResponseCodec {
  encode(body: unknown): string;
  decode(stored: unknown): unknown;
}

/** How long a stored response is repeated. */
export const retentionDays = 1;

const keyColumns = columnsOf("idempotency", "organization_id", "credential_id", "route", "key");

/**
 * Claims the key of a request. Waits for a transaction that has claimed the key and not ended.
 * @returns whether the key was not in use.
 */
export async function claimKey(tx: Transaction, request: IdempotentRequest): Promise<boolean> {
  const claimed = await tx
    .insertInto("idempotency")
    .values(toClaim(request))
    .onConflict((conflict) =>
      conflict
        .columns(["organization_id", "credential_id", "route", "key"])
        // Lets a key be used again before the job deletes its expired response.
        .doUpdateSet(({ ref }) => ({
          request_hash: ref("excluded.request_hash"),
          created_at: ref("excluded.created_at"),
          status: null,
          body: null,
          subjects: sql`default`,
        }))
        .where(
          "idempotency.created_at",
          "<",
          sql<string>`excluded.created_at - ${retentionDays} * interval '24 hours'`,
        ),
    )
    .returning("key")
    .execute();
  return claimed.length > 0;
}

function toClaim({ idempotencyKey, hashes: [request_hash = ""], now }: IdempotentRequest) {
  return { ...idempotencyKey, request_hash, created_at: now.toISOString() };
}

/** Identifies a key in a set. */
export function formatKey({ organization_id, credential_id, route, key }: IdempotencyKey): string {
  return JSON.stringify([organization_id, credential_id, route, key]);
}

/**
 * The keys of these requests that are in the table, also with expired responses; formatted by `formatKey`.
 */
export async function findStoredKeys(
  tx: Transaction,
  requests: readonly IdempotentRequest[],
): Promise<ReadonlySet<string>> {
  const keys = requests.map(({ idempotencyKey }) => idempotencyKey);
  const { rows } = await rowsOf(keyColumns)`
    select idempotency.organization_id, idempotency.credential_id, idempotency.route, idempotency.key
    from idempotency join ${recordset("request", keyColumns, keys)} on ${isKeyOfRequest(keys)}
  `.execute(tx);
  return new Set(rows.map(formatKey));
}

interface AnsweredRequest {
  readonly request: IdempotentRequest;
  readonly response: CallResponse;
}

/**
 * Inserts the responses of requests whose keys are not stored. If another transaction has inserted one of the
 * keys meanwhile, the statement fails, and the effects of all requests are rolled back.
 */
export async function insertResponses(tx: Transaction, answered: readonly AnsweredRequest[]): Promise<void> {
  const rows = answered
    .map((one) => ({ ...toResponseRow(one), ...toClaim(one.request) }))
    // In one order, so that two such statements do not deadlock.
    .sort((one, other) => (formatKey(one) < formatKey(other) ? -1 : 1));
  const columns = { ...responseColumns, ...columnsOf("idempotency", "request_hash", "created_at") };
  await sql`
    insert into idempotency (organization_id, credential_id, route, key, request_hash, created_at, status, body, subjects)
    select organization_id, credential_id, route, key, request_hash, created_at, status, body::json, ${storedSubjects}
    from ${recordset("request", columns, rows)}
  `.execute(tx);
}

/** Stores the responses of requests that have claimed their keys. */
export async function storeResponses(tx: Transaction, answered: readonly AnsweredRequest[]): Promise<void> {
  const rows = answered.map(toResponseRow);
  await sql`
    update idempotency set status = request.status, body = request.body::json, subjects = ${storedSubjects}
    from ${recordset("request", responseColumns, rows)}
    where ${isKeyOfRequest(rows)}
  `.execute(tx);
}

const responseColumns = {
  ...keyColumns,
  ...columnsOf("idempotency", "status", "subjects"),
  body: "text",
} as const;

function toResponseRow({ request: { idempotencyKey, codec }, response: { status, body } }: AnsweredRequest) {
  return { ...idempotencyKey, status, body: codec.encode(body), subjects: subjectsOf(body) };
}

/** A contact that is being erased is not stored: the response to the erasure itself stays as it is. */
const storedSubjects = sql`
  array(
    select subject from unnest(request.subjects) as named (subject)
    where not exists (
      select from erasures
      where erasures.organization_id = request.organization_id and erasures.subject = named.subject
    )
  )`;

/** The contacts and conversations that a body names. */
function subjectsOf(body: unknown): readonly string[] {
  const ids = JSON.stringify(body).match(/(?<=")(?:con|conv)_[0-9a-z]{26}(?=")/g) ?? [];
  return [...new Set(ids)];
}

/** The condition of a join with the recordset `request`, which has the columns of these keys. */
function isKeyOfRequest(keys: readonly IdempotencyKey[]) {
  const organizations = keys.map(({ organization_id }) => organization_id);
  const names = keys.map(({ key }) => key);
  return sql<boolean>`${matchesKey("idempotency.organization_id", "request.organization_id", organizations)}
    and ${matchesKey("idempotency.key", "request.key", names)}
    and idempotency.credential_id = request.credential_id and idempotency.route = request.route`;
}
