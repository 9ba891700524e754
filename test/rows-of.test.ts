/** Statements whose rows are declared. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { openDatabase } from "../src/database/connect.ts";
import type { Database } from "../src/database/database.ts";
import { nullable, rowsOf } from "../src/database/query/index.ts";
import { silentLog } from "./support/app.ts";
import { createTestDatabase, type TestDatabase } from "./support/database.ts";

let fresh: TestDatabase;
let database: Database;
beforeAll(async () => {
  fresh = await createTestDatabase();
  const { DATABASE_URL: url, TIDINGS_DATA_DIR: dataDir = "" } = fresh.env;
  database = await openDatabase({ url, dataDir, log: silentLog });
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
  await fresh[Symbol.asyncDispose]();
});

test("a statement returns the rows that it declares", async () => {
  const { rows } = await rowsOf({ id: "text", at: nullable("timestamptz") })`
    select ${"one"} as id, null::timestamptz as at
  `.execute(database.queries);
  expect(rows).toEqual([{ id: "one", at: null }]);
});

test("a statement that returns another type or column than it declares fails in a test", async () => {
  const wrongType = rowsOf({ count: "integer" })`select count(*) as count`;
  await expect(wrongType.execute(database.queries)).rejects.toThrow(
    "A statement returns the columns count 20; it declares count 23",
  );
  const undeclared = rowsOf({ id: "text" })`select '1'::text as id, '2'::text as name`;
  await expect(undeclared.execute(database.queries)).rejects.toThrow("returns the columns id 25, name 25");
});

test("a statement that returns a null that it does not declare fails in a test", async () => {
  const empty = rowsOf({ id: "text" })`select null::text as id`;
  await expect(empty.execute(database.queries)).rejects.toThrow(
    "returns null as id, which it declares as text",
  );
});
