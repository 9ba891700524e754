/**
 * The attributes of metadata that are declared as dates, whose dates are stored in `contacts.dates`.
 *
 * Triggers store the dates of a contact whose metadata is written. A job stores the dates of the contacts
 * that exist at the declaration. A condition reads the metadata of a contact whose date is not stored, so it
 * is right before the job has ended, and for a contact that the job has missed because its transaction began
 * before the declaration.
 */
import { type Selectable, sql } from "kysely";
import { z } from "zod";
import type { Queries } from "../../../../database/database.ts";
import { ofOrganization, rowsOf } from "../../../../database/query/index.ts";
import type { Tables } from "../../../../database/schema/index.ts";
import { newJob } from "../../../../jobs/job.ts";
import { lockOrganization } from "../../../account/organization/index.ts";
import { defineJob, type WriteContext } from "../../../foundation/kernel/index.ts";
import type { Expression } from "../../../foundation/query/index.ts";

export type DateAttribute = Pick<Selectable<Tables["contact_date_attributes"]>, "name" | "is_ready">;

type Scope = Pick<WriteContext, "tx" | "organization" | "now">;

/**
 * Declares the member at a path of the metadata, such as `crm.signed_up`, as a date. Of an attribute that is
 * declared already, nothing changes, but its dates are stored again if the job has failed.
 * @returns undefined if `limit` names have been declared, also those whose declaration has ended.
 */
export async function declareDate(
  { tx, organization, now }: Scope,
  { name, limit }: { readonly name: string; readonly limit: number },
): Promise<DateAttribute | undefined> {
  // Two declarations at once would take the same place.
  await lockOrganization(tx, organization);
  const known = await ofOrganization(tx, organization)
    .selectFrom("contact_date_attributes")
    .select(["name", "place", "is_declared", "is_ready"])
    .execute();
  const former = known.find((attribute) => attribute.name === name);
  if (former?.is_declared && former.is_ready) {
    return former;
  }
  if (!former && known.length >= limit) {
    return undefined;
  }
  const declaration = { is_declared: true, is_ready: false, declared_at: now.toISOString() };
  await tx
    .insertInto("contact_date_attributes")
    .values({ organization_id: organization, name, place: former?.place ?? known.length + 1, ...declaration })
    .onConflict((conflict) => conflict.columns(["organization_id", "name"]).doUpdateSet(declaration))
    .execute();
  const payload = { organization_id: organization, name, declared_at: declaration.declared_at };
  await tx.enqueue([newJob(fillDatesJob, payload, { priority: "bulk" })]);
  return { name, is_ready: false };
}

/** Ends a declaration; false if there is none. Dates that are stored stay right and are not removed. */
export async function withdrawDate({ tx, organization }: Omit<Scope, "now">, name: string): Promise<boolean> {
  const { numUpdatedRows } = await ofOrganization(tx, organization)
    .updateTable("contact_date_attributes")
    .set({ is_declared: false })
    .where("name", "=", name)
    .where("is_declared", "=", true)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export async function listDateAttributes(
  db: Queries,
  organization: string,
): Promise<readonly DateAttribute[]> {
  return ofOrganization(db, organization)
    .selectFrom("contact_date_attributes")
    .select(["name", "is_ready"])
    .where("is_declared", "=", true)
    .orderBy("name")
    .execute();
}

/**
 * The date of a contact for the member at this path; null if none is stored. The place is looked up by the
 * statement itself, once and not for each row.
 */
export function storedDate(organization: string, name: string): Expression {
  return sql`contacts.dates[(
    select place from contact_date_attributes
    where organization_id = ${organization} and name = ${name} and is_declared
  )]`;
}

const batchSize = 1_000;

/** Safe to repeat: contacts with the right dates are not written. */
export const fillDatesJob = defineJob({
  name: "contact_dates.fill",
  payload: z.object({ organization_id: z.string(), name: z.string(), declared_at: z.string() }),

  async run({ organization_id, name, declared_at }, world) {
    const { queries } = world.database;
    let after: string | undefined = "";
    while (after !== undefined) {
      if (world.stopping.aborted) {
        return { runAgainAt: world.now() };
      }
      after = await fillBatch(queries, organization_id, after);
    }
    await ofOrganization(queries, organization_id)
      .updateTable("contact_date_attributes")
      .set({ is_ready: true })
      .where("name", "=", name)
      // A later declaration has a job of its own.
      .where("declared_at", "=", declared_at)
      .execute();
    return undefined;
  },
});

/** Returns the last id; undefined at the end. */
async function fillBatch(db: Queries, organization: string, after: string): Promise<string | undefined> {
  // Locked in the order of the ids, as by the import of contacts.
  const { rows } = await rowsOf({ last: "text", count: "bigint" })`
    with batch as (
      select id, contact_dates(organization_id, metadata) as dates from contacts
      where organization_id = ${organization} and id > ${after}
      order by id limit ${batchSize} for no key update
    ), changed as (
      update contacts set dates = batch.dates from batch
      where contacts.organization_id = ${organization} and contacts.id = batch.id
        and contacts.dates is distinct from batch.dates
    )
    select max(id) as last, count(*) as count from batch
  `.execute(db);
  const [batch] = rows;
  return batch && batch.count === batchSize ? batch.last : undefined;
}
