/**
 * Cohort queries in SQL: they select the contacts that the evaluator in memory selects, and hold no value.
 */
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { useTestApp } from "./support/app.ts";
import { compareMembers, storeContacts, textsOf } from "./support/cohort-members.ts";
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

test("values and the names of metadata never stand in the text of the SQL", () => {
  fc.assert(
    fc.property(queryArbitrary, (pair) => {
      const [one, other] = textsOf(app.server.database.queries, pair);
      expect(one).toBe(other);
    }),
    { seed, numRuns: iterations(200, 1_000) },
  );
});
