/**
 * Runs an effect once per idempotency key: the response is stored in the effect's own transaction, so either
 * both are committed or neither.
 *
 * A second request with the same key waits at the unique index until the first request commits, and then
 * returns the stored response. If the first request is rolled back, the second request runs.
 */

import { createHmac } from "node:crypto";
import { type ExpressionBuilder, sql } from "kysely";
import { Failure } from "../../../../../../tools/contract/index.ts";
import { fail } from "../../../../../../tools/errors.ts";
import type { Queries } from "../../../../../database/database.ts";
import type { SealedText, Tables } from "../../../../../database/schema/index.ts";
import { together } from "../../../../../database/transaction.ts";
import {
  type SealedColumn,
  type SealingSecrets,
  seal,
  sealSecretsOf,
  unseal,
} from "../../../sealing/index.ts";
import type { IdempotencyKey } from "../../actor.ts";
import { defineRetentionJob } from "../../retention.ts";
import type { Transaction } from "../../transaction.ts";
import {
  type CallResponse,
  claimKey,
  type IdempotentRequest,
  type ResponseCodec,
  retentionDays,
  storeResponses,
} from "./claims.ts";

export {
  type CallResponse,
  findStoredKeys,
  formatKey,
  type IdempotentRequest,
  insertResponses,
  type ResponseCodec,
} from "./claims.ts";

export const plainCodec: ResponseCodec = {
  encode: (body) => JSON.stringify(body),
  decode: (stored) => stored,
};

/** Encrypts responses that show a secret. */
export function createSealedCodec(secrets: SealingSecrets): ResponseCodec {
  return {
    encode: (body) => JSON.stringify(seal(secrets, JSON.stringify(body))),
    // `encode` wrote it.
    decode: (stored) => JSON.parse(unseal(secrets, stored as SealedText)),
  };
}

/** A stored response that can't be opened is deleted, so a repeated request runs again. */
export const sealedResponses: SealedColumn = {
  table: "idempotency",
  column: "body",
  key: ["organization_id", "credential_id", "route", "key"],
  isJson: true,
  rows: (now) => sql`json_typeof(body) = 'string' and created_at >= ${retainedSince(now)}`,
  whenLost: "delete",
};

/**
 * Hashes a request's content with each secret, the secret in use first. The order of object members does not
 * matter. The hash is keyed, because a request may contain a password, which could be guessed from a plain
 * hash.
 */
export function hashRequest(secrets: SealingSecrets, ...content: unknown[]): readonly string[] {
  const text = JSON.stringify(content, sortMembers);
  return sealSecretsOf(secrets).map((secret) =>
    createHmac("sha256", `request:${secret}`).update(text).digest("base64url"),
  );
}

function sortMembers(_: string, value: unknown): unknown {
  const isPlain = typeof value === "object" && value !== null && !Array.isArray(value);
  return isPlain ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value;
}

/**
 * Runs `effect` and stores its response, or returns the response stored under the request's key.
 * @throws Failure `idempotency_key_reused` if the key was used for another request.
 */
export async function runOnce(
  tx: Transaction,
  request: IdempotentRequest,
  effect: () => Promise<CallResponse>,
): Promise<CallResponse> {
  if (!(await claimKey(tx, request))) {
    return toReplay(await selectStored(tx, request.idempotencyKey).executeTakeFirstOrThrow(), request);
  }
  const response = await runInSavepoint(tx, effect);
  tx.sendWithCommit(() => storeResponses(tx, [{ request, response }]));
  return response;
}

/** Stores the response of a request whose key no other request has claimed. */
export async function storeResponse(
  tx: Transaction,
  request: IdempotentRequest,
  response: CallResponse,
): Promise<void> {
  if (!(await claimKey(tx, request))) {
    throw new Error("The idempotency key of a call was used again while the call ran.");
  }
  await storeResponses(tx, [{ request, response }]);
}

export async function deleteStoredResponse(tx: Transaction, key: IdempotencyKey): Promise<void> {
  await tx.deleteFrom("idempotency").where(hasKey(key)).execute();
}

/** The response stored under the request's key, if any. @throws Failure `idempotency_key_reused`. */
export async function findStoredResponse(
  db: Queries,
  request: IdempotentRequest,
): Promise<CallResponse | undefined> {
  const stored = await selectStored(db, request.idempotencyKey)
    .where("created_at", ">=", retainedSince(request.now))
    .executeTakeFirst();
  return stored && toReplay(stored, request);
}

export const deleteExpiredResponsesJob = defineRetentionJob({
  name: "answer.forget",
  schedule: "37 * * * *",
  rules: [{ table: "idempotency", column: "created_at", days: retentionDays }],
});

function selectStored(db: Queries, key: IdempotencyKey) {
  return db
    .selectFrom("idempotency")
    .select(["request_hash", "status", "body"])
    .select(({ exists, selectFrom }) =>
      exists(
        selectFrom("erasures")
          .select("subject")
          .where("organization_id", "=", key.organization_id)
          .whereRef("subject", "=", sql`any(idempotency.subjects)`),
      ).as("is_erased"),
    )
    .where(hasKey(key));
}

interface StoredResponse {
  readonly request_hash: string;
  readonly status: number | null;
  readonly body: unknown;
  /** Whether the response names a contact who is being erased. */
  readonly is_erased: boolean | number | bigint;
}

function toReplay(stored: StoredResponse, { hashes, codec }: IdempotentRequest): CallResponse {
  if (!hashes.includes(stored.request_hash)) {
    throw fail("idempotency_key_reused");
  }
  if (stored.is_erased) {
    throw fail("contact_not_found");
  }
  return { status: stored.status ?? 200, body: codec.decode(stored.body), isReplay: true };
}

/**
 * Runs the effect. A failure that a retry would meet again rolls the effect back and becomes the response.
 */
async function runInSavepoint(tx: Transaction, effect: () => Promise<CallResponse>): Promise<CallResponse> {
  try {
    const [, response] = await together(sql`savepoint effect`.execute(tx), effect());
    return response;
  } catch (error) {
    if (!(error instanceof Failure) || !isPermanent(error.status)) {
      throw error;
    }
    await sql`rollback to savepoint effect`.execute(tx);
    return { status: error.status, body: error.body(), isReplay: false };
  }
}

/** Failures that depend on the credential, the wallet or the rate, and may not recur on a retry. */
const transient = new Set([401, 402, 403, 429]);

/** A failure that depends on the service's own state may not recur either. */
export function isPermanent(status: number): boolean {
  return status < 500 && !transient.has(status);
}

function hasKey({ organization_id, credential_id, route, key }: IdempotencyKey) {
  return (row: ExpressionBuilder<Tables, "idempotency">) =>
    row.and({ organization_id, credential_id, route, key });
}

function retainedSince(now: Date): string {
  return new Date(now.getTime() - retentionDays * 24 * 3_600_000).toISOString();
}
