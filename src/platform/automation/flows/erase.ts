/** Erases the answers of a contact from runs. The steps of runs have only ids and codes. */

import { sql } from "kysely";
import { updateBatch } from "../../../database/query/index.ts";
import type { Change, Transaction } from "../../foundation/kernel/index.ts";
import type { ErasedContact } from "../../inbox/contacts/index.ts";
import { cancelRuns } from "./run/index.ts";

/** Ends the active runs in the transaction of the erasure, so that no run sends anything more. */
export async function cancelRunsOfErased(
  change: Change,
  { organization_id, contact_id }: ErasedContact,
): Promise<void> {
  await cancelRuns({ ...change, organization: organization_id }, { reason: "contact_erased", contact_id });
}

export async function eraseVariables(
  tx: Transaction,
  { organization_id, contact_id }: ErasedContact,
  after: string,
): Promise<string | undefined> {
  const ids = sql`
    select id from flow_runs where organization_id = ${organization_id} and contact_id = ${contact_id}`;
  const update = sql`
    update flow_runs set variables = '{}'
    where organization_id = ${organization_id} and id in (select id from batch) and variables <> '{}'`;
  return updateBatch(tx, ids, { updates: [update], after });
}
