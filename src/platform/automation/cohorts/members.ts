/** The contacts of a cohort: what its query selects, or the contacts of its file. */
import { type Selectable, sql } from "kysely";
import { fail } from "../../../../tools/errors.ts";
import type { Queries } from "../../../database/database.ts";
import { ofOrganization, rowsOf, withTimeLimit } from "../../../database/query/index.ts";
import type { Tables } from "../../../database/schema/index.ts";
import type { Transaction, World } from "../../foundation/kernel/index.ts";
import {
  type CompileContext,
  cohortAttributes,
  compileQuery,
  type Predicate,
  parseQuery,
  type Query,
} from "../../foundation/query/index.ts";
import { contactSources, normalizeContacts } from "../../inbox/contacts/index.ts";
import { conversationSources, conversationsOfContact } from "../../inbox/conversations/index.ts";

export type Cohort = Selectable<Tables["cohorts"]>;

/** What selects contacts: a saved cohort, or a query that is not saved. */
export type Audience = Pick<Cohort, "type" | "query"> & { readonly id?: string };

/** Maps `cohortAttributes` to columns. */
export const contactQueries: Pick<CompileContext, "sources" | "related"> = {
  sources: { ...contactSources, ...conversationSources },
  related: conversationsOfContact,
};

/** @throws Failure of the query language, with the place in the query, such as `query.and[1].operator`. */
export function parseCohortQuery(query: unknown): Query {
  return parseQuery(query, { field: "query", attributes: cohortAttributes });
}

/** @throws Failure `cohort_not_found`, also for another tenant's id. */
export async function requireCohort(
  db: Queries,
  organization: string,
  id: string,
  { forUpdate = false } = {},
): Promise<Cohort> {
  const cohort = await ofOrganization(db, organization)
    .selectFrom("cohorts")
    .selectAll()
    .where("id", "=", id)
    .$if(forUpdate, (query) => query.forUpdate())
    .executeTakeFirst();
  if (!cohort) {
    throw fail("cohort_not_found");
  }
  return cohort;
}

/**
 * The condition for the rows of `contacts` that belong to an audience; it does not exclude erased contacts.
 * Call `normalizeContacts` before.
 */
export function isMember(organization: string, { id, type, query }: Audience, now: Date): Predicate {
  if (type === "query") {
    return compileQuery(parseCohortQuery(query), { organization, now, ...contactQueries });
  }
  return sql<boolean>`exists (
    select from cohort_members
    where cohort_members.organization_id = ${organization} and cohort_members.cohort_id = ${id}
      and cohort_members.contact_id = contacts.id
  )`;
}

/** The ids of an audience's contacts after `after`, in order. Call `normalizeContacts` before. */
export async function listMemberIds(
  db: Queries,
  {
    organization,
    audience,
    now,
  }: { readonly organization: string; readonly audience: Audience; readonly now: Date },
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<readonly string[]> {
  const { rows } = await rowsOf({ contact_id: "text" })`
    select contacts.id as contact_id from contacts
    where contacts.organization_id = ${organization} and contacts.erased_at is null
      and ${isMember(organization, audience, now)} and contacts.id > ${after}
    order by contacts.id limit ${limit}
  `.execute(db);
  return rows.map(({ contact_id }) => contact_id);
}

/** @throws ReadTimeoutError; Failure `unavailable`. */
export async function countMembers(
  world: World,
  organization: string,
  audience: Audience,
  now: Date,
): Promise<number> {
  await normalizeContacts(world, organization);
  return withTimeLimit(world.database, (db) => selectCount(db, organization, audience, now), "scan");
}

export async function selectCount(
  db: Queries,
  organization: string,
  audience: Audience,
  now: Date,
): Promise<number> {
  const { rows } = await rowsOf({ count: "bigint" })`
    select count(*) as count from contacts
    where contacts.organization_id = ${organization} and contacts.erased_at is null
      and ${isMember(organization, audience, now)}
  `.execute(db);
  return rows[0]?.count ?? 0;
}

/** Stores the count when a broadcast has selected its recipients. */
export async function recordCount(
  tx: Transaction,
  { organization_id, id }: Pick<Cohort, "organization_id" | "id">,
  contact_count: number,
): Promise<void> {
  await ofOrganization(tx, organization_id)
    .updateTable("cohorts")
    .set({ contact_count })
    .where("id", "=", id)
    .execute();
}

/** A cohort as the contract shows it. */
export function serializeCohort(cohort: Cohort) {
  const { position: lines_read, rejected: lines_rejected, errors } = cohort;
  return { ...cohort, lines_read, lines_rejected, errors: [...errors] };
}
