/** Stores generated contacts, and compares the members of queries in SQL with those in memory. */
import fc from "fast-check";
import { sql } from "kysely";
import type { Database, Queries } from "../../src/database/database.ts";
import { newId } from "../../src/database/id.ts";
import { insertAll } from "../../src/database/query/index.ts";
import { countryOf } from "../../src/platform/account/phone/index.ts";
import { contactQueries } from "../../src/platform/automation/cohorts/members.ts";
import { cohortAttributes, compileQuery, parseQuery } from "../../src/platform/foundation/query/index.ts";
import { upsertContacts } from "../../src/platform/inbox/contacts/index.ts";
import {
  type CohortFacts,
  cohortNow,
  contactArbitrary,
  dateQueryArbitrary,
  matchesCohort,
  oddContacts,
  oddQueries,
  type QueryPair,
  queryArbitrary,
} from "./cohort-queries.ts";

const parse = (query: unknown) => parseQuery(query, { field: "query", attributes: cohortAttributes });

/** The ids of the contacts that a query selects in SQL. */
function selectMembers(organization: string, query: unknown) {
  const predicate = compileQuery(parse(query), { organization, now: cohortNow, ...contactQueries });
  return sql<{ id: string }>`
    select id from contacts where organization_id = ${organization} and erased_at is null and ${predicate} order by id
  `;
}

/** Stores as many generated contacts as given, as an import does, and those with odd values. */
export async function storeContacts(
  database: Database,
  organization: string,
  { count, seed }: { count: number; seed: number },
) {
  const generated = fc.sample(contactArbitrary, { numRuns: count, seed });
  const inboxes = await Promise.all(
    ["+14155550111", "+14155550112"].map((number) => createInbox(database.queries, organization, number)),
  );
  await database.transaction((tx) =>
    upsertContacts(
      tx,
      organization,
      [...generated, ...oddContacts].map((contact, index) => ({
        phone_number: `${"phone" in contact ? contact.phone : "+1415555"}${String(index).padStart(5, "0")}`,
        name: contact.name ?? undefined,
        metadata: contact.metadata,
        tags: "tags" in contact ? contact.tags : [],
      })),
      { now: cohortNow },
    ),
  );
  const stored = await database.queries
    .selectFrom("contacts")
    .select("id")
    .where("organization_id", "=", organization)
    .orderBy("id")
    .execute();
  for (const [index, parts] of generated.entries()) {
    const { opted_out, isBlocked, created_at, updated_at, conversations } = parts;
    const id = stored[index]?.id ?? "";
    await sql`
      update contacts set opted_out = ${opted_out}, created_at = ${created_at}, updated_at = ${new Date(updated_at).toISOString()},
        normalized_at = ${new Date(updated_at).toISOString()}, blocked_at = case when ${isBlocked} then ${created_at}::timestamptz end
      where organization_id = ${organization} and id = ${id}
    `.execute(database.queries);
    await insertAll(
      database.queries,
      "conversations",
      conversations.map((conversation, place) => ({
        organization_id: organization,
        id: newId("conv", cohortNow),
        contact_id: id,
        inbox_id: inboxes[place],
        created_at,
        updated_at,
        is_unread: false,
        ...conversation,
      })),
    );
  }
}

async function createInbox(queries: Queries, organization_id: string, phone_number: string) {
  const id = newId("inb", cohortNow);
  const at = cohortNow.toISOString();
  await queries
    .insertInto("inboxes")
    .values({
      organization_id,
      id,
      name: id,
      channel: "simulator",
      platform: "whatsapp",
      phone_number,
      settings: "{}",
      created_at: at,
      updated_at: at,
    })
    .execute();
  return id;
}

/** What the evaluator reads, from the stored rows. */
export async function readCohortFacts(
  queries: Queries,
  organization: string,
): Promise<Map<string, CohortFacts>> {
  const contacts = await queries
    .selectFrom("contacts")
    .selectAll()
    .where("organization_id", "=", organization)
    .where("erased_at", "is", null)
    .execute();
  const conversations = await queries
    .selectFrom("conversations")
    .selectAll()
    .where("organization_id", "=", organization)
    .execute();
  return new Map(
    contacts.map((contact) => {
      const own = conversations.filter(({ contact_id }) => contact_id === contact.id);
      const [latest = null] = own
        .flatMap(({ last_user_message_at: at }) => at ?? [])
        .sort()
        .reverse();
      const { id, name, phone_number, tags, metadata, created_at, updated_at, opted_out, blocked_at } =
        contact;
      const facts = { name, phone_number, tags, metadata, created_at, updated_at, opted_out };
      return [
        id,
        {
          contact: {
            ...facts,
            blocked: blocked_at !== null,
            country: countryOf(phone_number),
            last_user_message_at: latest,
          },
          conversations: own,
        },
      ];
    }),
  );
}

export interface Difference {
  readonly query: string;
  readonly sql: readonly string[];
  readonly memory: readonly string[];
}

/** Compares random queries, as `compareEach` does. */
export function compareMembers(
  queries: Queries,
  organization: string,
  { count, seed }: { readonly count: number; readonly seed: number },
) {
  const random = fc.sample(queryArbitrary, { numRuns: count, seed }).map(([query]) => query);
  return compareEach(queries, organization, [...oddQueries, ...random]);
}

/** Compares random conditions on times in metadata, as `compareEach` does. */
export function compareDates(
  queries: Queries,
  organization: string,
  {
    names,
    count,
    seed,
  }: { readonly names: readonly string[]; readonly count: number; readonly seed: number },
) {
  return compareEach(queries, organization, fc.sample(dateQueryArbitrary(names), { numRuns: count, seed }));
}

/**
 * The first query whose members in SQL differ from those in memory; with how many the members were
 * neither none nor all.
 */
async function compareEach(
  queries: Queries,
  organization: string,
  compared: readonly unknown[],
): Promise<{ difference: Difference | undefined; telling: number }> {
  const facts = await readCohortFacts(queries, organization);
  let telling = 0;
  for (const query of compared) {
    const parsed = parse(query);
    const memory = [...facts]
      .filter(([, own]) => matchesCohort(parsed, own, cohortNow))
      .map(([id]) => id)
      .sort();
    const { rows } = await selectMembers(organization, query).execute(queries);
    const found = rows.map(({ id }) => id).sort();
    if (found.join() !== memory.join()) {
      return { difference: { query: JSON.stringify(query), sql: found, memory }, telling };
    }
    telling += Number(found.length > 0 && found.length < facts.size);
  }
  return { difference: undefined, telling };
}

/** The SQL texts of two queries of the same shape. */
export function textsOf(queries: Queries, pair: QueryPair): string[] {
  return pair.map((query) => selectMembers("org", query).compile(queries).sql);
}
