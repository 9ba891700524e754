/** Claims idempotency keys, and stores the responses of the requests that claimed them. */
import { sql } from "kysely";
import { columnsOf, matchesKey, recordset, rowsOf } from "../../../../database/query/index.ts";
import type { IdempotencyKey } from "../actor.ts";
import type { Transaction } from "../transaction.ts";

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
 * Claims the keys of requests with one statement. The keys must differ. Waits for transactions that have
 * claimed one of the keys and not ended.
 * @returns the requests whose keys were not in use.
 */
export async function claimKeys(
  tx: Transaction,
  requests: readonly IdempotentRequest[],
): Promise<ReadonlySet<IdempotentRequest>> {
  const rows = requests
    .map(({ idempotencyKey, hashes: [request_hash = ""], now }) => ({
      ...idempotencyKey,
      request_hash,
      created_at: now.toISOString(),
    }))
    // In one order, so that two such statements do not deadlock.
    .sort((one, other) => (formatKey(one) < formatKey(other) ? -1 : 1));
  const columns = { ...keyColumns, ...columnsOf("idempotency", "request_hash", "created_at") };
  const { rows: claimed } = await rowsOf(keyColumns)`
    insert into idempotency (organization_id, credential_id, route, key, request_hash, created_at)
    select organization_id, credential_id, route, key, request_hash, created_at
    from ${recordset("request", columns, rows)}
    on conflict (organization_id, credential_id, route, key)
    -- Lets a key be used again before the job deletes its expired response.
    do update set request_hash = excluded.request_hash, created_at = excluded.created_at,
      status = null, body = null, subjects = default
    where idempotency.created_at < excluded.created_at - ${retentionDays} * interval '24 hours'
    returning organization_id, credential_id, route, key
  `.execute(tx);
  const keys = new Set(claimed.map(formatKey));
  return new Set(requests.filter(({ idempotencyKey }) => keys.has(formatKey(idempotencyKey))));
}

/** Identifies a key in a set. */
export function formatKey({ organization_id, credential_id, route, key }: IdempotencyKey): string {
  return JSON.stringify([organization_id, credential_id, route, key]);
}

/** Deletes the claims of requests that were not run. */
export async function releaseKeys(tx: Transaction, requests: readonly IdempotentRequest[]): Promise<void> {
  const keys = requests.map(({ idempotencyKey }) => idempotencyKey);
  await sql`
    delete from idempotency using ${recordset("request", keyColumns, keys)} where ${isKeyOfRequest(keys)}
  `.execute(tx);
}

/** Stores the responses of requests that have claimed their keys. */
export async function storeResponses(
  tx: Transaction,
  answered: readonly { readonly request: IdempotentRequest; readonly response: CallResponse }[],
): Promise<void> {
  const rows = answered.map(({ request: { idempotencyKey, codec }, response: { status, body } }) => ({
    ...idempotencyKey,
    status,
    body: codec.encode(body),
    subjects: subjectsOf(body),
  }));
  const columns = { ...keyColumns, ...columnsOf("idempotency", "status", "subjects"), body: "text" } as const;
  await sql`
    update idempotency set status = request.status, body = request.body::json,
      -- A contact that is being erased is not stored: the response to the erasure itself stays as it is.
      subjects = array(
        select subject from unnest(request.subjects) as named (subject)
        where not exists (
          select from erasures
          where erasures.organization_id = request.organization_id and erasures.subject = named.subject
        )
      )
    from ${recordset("request", columns, rows)}
    where ${isKeyOfRequest(rows)}
  `.execute(tx);
}

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
