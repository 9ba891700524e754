/** Counts the contacts that a query selects, with a sample and the count of each condition. */
import { sql } from "kysely";
import type { Queries } from "../../../database/database.ts";
import { columnsOf, rowsOf, withTimeLimit } from "../../../database/query/index.ts";
import type { ReadContext } from "../../foundation/kernel/index.ts";
import { compileUnits, type Query } from "../../foundation/query/index.ts";
import { normalizeContacts } from "../../inbox/contacts/index.ts";
import { type Audience, contactQueries, isMember, parseCohortQuery, selectCount } from "./members.ts";

const sampleSize = 5;

export async function previewQuery(
  { world, organization, caller, now }: ReadContext,
  { query, sample }: { readonly query: Record<string, unknown>; readonly sample: boolean },
) {
  const parsed = parseCohortQuery(query);
  await normalizeContacts(world, organization);
  const audience: Audience = { type: "query", query };
  return withTimeLimit(
    world.database,
    async (db) => {
      if (!sample) {
        return { contact_count: await selectCount(db, organization, audience, now) };
      }
      const counts = await countUnits(db, { organization, query: parsed, now });
      const people = await selectSample(db, { organization, audience, now });
      const isShown = caller.scopes.has("contacts:read");
      return { ...counts, sample: people.map((person) => (isShown ? person : mask(person))) };
    },
    "scan",
  );
}

/**
 * Counts in one pass over all contacts how many meet each part of the query, and how many also meet the parts
 * before.
 */
async function countUnits(
  db: Queries,
  { organization, query, now }: { readonly organization: string; readonly query: Query; readonly now: Date },
) {
  const units = compileUnits(query, { context: { organization, now, ...contactQueries }, path: "query" });
  const counts = units.flatMap(({ predicate }, index) => {
    const before = sql.join(
      units.slice(0, index + 1).map((unit) => unit.predicate),
      sql` and `,
    );
    return [sql`count(*) filter (where ${predicate})`, sql`count(*) filter (where ${before})`];
  });
  const { rows } = await rowsOf({ counts: "double precision[]" })`
    select array[${sql.join([sql`count(*)`, ...counts])}]::float8[] as counts from contacts
    where contacts.organization_id = ${organization} and contacts.erased_at is null
  `.execute(db);
  const [all = 0, ...found] = rows[0]?.counts ?? [];
  const funnel = units.map(({ paths }, index) => ({
    conditions: [...paths],
    matching: found[2 * index] ?? 0,
    remaining: found[2 * index + 1] ?? 0,
  }));
  return { contact_count: funnel.at(-1)?.remaining ?? all, funnel };
}

interface Person {
  readonly id: string | null;
  readonly phone_number: string | null;
  readonly name: string | null;
  readonly tags: string[];
}

/** Takes any contacts: sorting would have to find all of them. */
async function selectSample(
  db: Queries,
  { organization, audience, now }: { organization: string; audience: Audience; now: Date },
): Promise<Person[]> {
  const { rows } = await rowsOf(columnsOf("contacts", "id", "phone_number", "name", "tags"))`
    select id, phone_number, name, tags from contacts
    where contacts.organization_id = ${organization} and contacts.erased_at is null
      and ${isMember(organization, audience, now)}
    limit ${sampleSize}
  `.execute(db);
  return rows;
}

/** Keeps only the first letter of the name, and the country code and the last two digits of the number. */
function mask({ phone_number, name }: Person): Person {
  const [initial] = name ?? "";
  return {
    id: null,
    phone_number: phone_number && `${phone_number.slice(0, 3)}${"*".repeat(6)}${phone_number.slice(-2)}`,
    name: initial === undefined ? null : `${initial}***`,
    tags: [],
  };
}
