/** Erases a contact from plans: those about the contact, and its place among the targets of the others. */
import { sql } from "kysely";
import { rowsOf } from "../../../database/query/index.ts";
import type { Transaction } from "../../foundation/kernel/index.ts";
import type { ErasedContact } from "../../inbox/contacts/index.ts";
import { removeFiles } from "./store.ts";

/**
 * At most 100 plans of a credential are open, and ended plans are deleted after 90 days: few rows. The plans
 * are locked before their targets, as a job does that prepares them.
 */
export async function erasePlans(tx: Transaction, erased: ErasedContact): Promise<undefined> {
  const { organization_id, contact_id, conversation_ids, identities } = erased;
  const subjects = [contact_id, ...conversation_ids, ...identities];
  const { rows: plans } = await rowsOf({ upload_ids: "text[]" })`
    delete from plans where organization_id = ${organization_id} and subjects && ${subjects}::text[]
    returning upload_ids
  `.execute(tx);
  for (const plan of plans) {
    await removeFiles({ tx, organization: organization_id }, plan);
  }
  await sql`
    with plan as materialized (
      select id from plans where organization_id = ${organization_id} and id in (
        select plan_id from plan_targets where organization_id = ${organization_id} and contact_id = ${contact_id}
      )
      order by id for update
    ), deleted as (
      delete from plan_targets using plan
      where organization_id = ${organization_id} and plan_id = plan.id and contact_id = ${contact_id}
      returning plan_id, reason
    )
    update plans set included = plans.included - gone.included, excluded = plans.excluded - gone.excluded
    from (
      select plan_id, count(*) filter (where reason is null) as included,
        count(*) filter (where reason is not null) as excluded
      from deleted group by plan_id
    ) as gone
    where organization_id = ${organization_id} and plans.id = gone.plan_id
  `.execute(tx);
  return undefined;
}
