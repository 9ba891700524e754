/**
 * Erases stored responses and jobs with personal data of records. The ids of the records are the subjects.
 */

import { sql } from "kysely";
import type { Failure } from "../../../../tools/contract/index.ts";
import type { Queries } from "../../../database/database.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import { eraseJobs } from "../../../jobs/erase.ts";
import type { World } from "./context.ts";
import type { Transaction } from "./transaction.ts";

/** Responses per transaction. */
const batchSize = 500;

interface ErasedSubjects {
  readonly organization_id: string;
  readonly subjects: readonly string[];
  /** Further subjects, which occur only in jobs. */
  readonly otherJobs: readonly string[];
  /** The failure with which a repeated request is answered instead of the stored response. */
  readonly failure: Failure;
}

/** Hides the stored responses that name one of the subjects until `eraseStored` has erased them. */
export async function hideStored(
  tx: Transaction,
  organization_id: string,
  subjects: readonly string[],
): Promise<void> {
  await tx
    .insertInto("erasures")
    .values(subjects.map((subject) => ({ organization_id, subject })))
    .execute();
}

/** The last step of an erasure. Safe to repeat. */
export async function eraseStored(
  { database, jobsKeptByErasure }: World,
  erased: ErasedSubjects,
): Promise<void> {
  const { organization_id, subjects, otherJobs } = erased;
  await eraseStoredResponses(database.queries, erased);
  await database.transaction(async (tx) => {
    await eraseJobs(tx, [...subjects, ...otherJobs], jobsKeptByErasure);
    await ofOrganization(tx, organization_id)
      .deleteFrom("erasures")
      .where(sql<boolean>`subject = any(${subjects}::text[])`)
      .execute();
  });
}

/**
 * Erases responses and keeps their idempotency keys: a repeated request gets the failure and does not run
 * again.
 */
async function eraseStoredResponses(
  db: Queries,
  { organization_id, subjects, failure }: ErasedSubjects,
): Promise<void> {
  let count = batchSize;
  while (count === batchSize) {
    const { rows } = await sql`
      update idempotency set status = ${failure.status}, body = ${JSON.stringify(failure.body())}, subjects = '{}'
      where ctid = any(array(
        select ctid from idempotency
        where subjects && ${subjects}::text[] and organization_id = ${organization_id}
        limit ${batchSize}
      ))
      returning 1
    `.execute(db);
    count = rows.length;
  }
}
