/**
 * Cohort queries in SQL: they select the contacts that the evaluator in memory selects, and hold no value.
 */
import fc from "fast-check";
import { sql } from "kysely";
import { beforeAll, expect, test } from "vitest";
import { cohorts } from "../tools/cohorts/index.ts";
import { useTestApp } from "./support/app.ts";
import { compareDates, compareMembers, storeContacts, textsOf } from "./support/cohort-members.ts";
import { queryArbitrary } from "./support/cohort-queries.ts";
import { iterations } from "./support/iterations.ts";

const app = useTestApp();
const seed = 20261122;
let organization = "";

beforeAll(async () => {
  const { database } = app.server;
  organization = (await database.queries.selectFrom("organizations").select("id").executeTakeFirstOrThrow())
    .id;
  await storeContacts(database, organization, { count: 120, seed });
});

// `npm run bench -- cohorts --queries 10000` compares more.
test("300 random queries select the same contacts in SQL and in memory", async () => {
  const sample = { count: iterations(100, 300), seed };
  const { difference, telling } = await compareMembers(app.server.database.queries, organization, sample);
  expect(difference).toBeUndefined();
  expect(telling).toBeGreaterThan(sample.count / 3);
});

test("declared dates select the same contacts, stored or not", { tags: "both" }, async () => {
  const { queries } = app.server.database;
  const names = ["a", "b", "city", "a.b", "b.a.a", "0", "constructor"];
  const sample = { names: [...names, "b.c"], count: iterations(60, 500), seed };
  const stored = () => queries.selectFrom("contacts").select("id").where("dates", "is not", null).execute();
  const expectSame = async () => {
    const { difference, telling } = await compareDates(queries, organization, sample);
    expect(difference).toBeUndefined();
    expect(telling).toBeGreaterThan(sample.count / 3);
  };
  await expectSame();
  for (const name of names) {
    await app.call(cohorts.declare_attribute, { name, type: "date" });
  }
  expect(await stored()).toEqual([]);
  await expectSame();

  await app.runDueJobs();
  const { length } = await stored();
  expect(length).toBeGreaterThan(20);
  await expectSame();

  // Each contact gets the values of the next one, and the last one those of the first.
  await sql`
    update contacts set name = other.name, tags = other.tags, metadata = other.metadata, normalized = other.normalized
    from contacts as other
    where other.organization_id = contacts.organization_id and other.id = coalesce(
      (select min(id) from contacts as next where next.id > contacts.id), (select min(id) from contacts))
  `.execute(queries);
  expect(await stored()).toHaveLength(length);
  await expectSame();

  await app.call(cohorts.undeclare_attribute, { name: "a" });
  await app.call(cohorts.declare_attribute, { name: "b.c", type: "date" });
  await expectSame();
});

test("values and the names of metadata never stand in the text of the SQL", () => {
  fc.assert(
    fc.property(queryArbitrary, (pair) => {
      const [one, other] = textsOf(app.server.database.queries, pair);
      expect(one).toBe(other);
    }),
    { seed, numRuns: iterations(200, 1_000) },
  );
});
