/**
 * Rows that are passed to a statement as a table.
 *
 * @module-tag both
 */
import { type RawBuilder, sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openDatabase } from "../src/database/connect.ts";
import type { Database } from "../src/database/database.ts";
import { columnOf, columnsOf, countedRecordset, matchesKey, recordset } from "../src/database/query/index.ts";
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

const columns = {
  position: "integer",
  ...columnsOf("contacts", "id", "name", "tags", "metadata"),
  at: columnOf("contacts", "created_at"),
} as const;

const first = { position: 1, id: "con_1", tags: ["a"], metadata: { x: 1 }, at: "2026-01-01T00:00:00.000Z" };
const second = { ...first, position: 2, id: "con_2", name: "Ada", other: true };

test("the rows of a recordset arrive with the types of their columns, and a member that is left out as null", async () => {
  const { rows } = await sql`
    select * from ${recordset("row", columns, [first, second])} order by position
  `.execute(database.queries);
  const { other: _, ...kept } = second;
  expect(rows).toEqual([{ ...first, name: null }, kept]);
});

test("only the rows of a counted recordset whose keys match are joined", async () => {
  const numbers = [{ id: "1" }, { id: "2" }, { id: "3" }];
  const { rows } = await sql`
    select stored.id from ${countedRecordset("row", { id: "text" }, numbers)}
    join (values ('2'), ('3'), ('4')) as stored (id) on ${matchesKey("stored.id", "row.id", ["1", "2", "4"])}
  `.execute(database.queries);
  expect(rows).toEqual([{ id: "2" }]);
});

test("the text of a statement does not depend on the number of its rows", () => {
  const textOf = (query: RawBuilder<unknown>) => query.compile(database.queries).sql;
  const statement = (rows: readonly (typeof first)[]) => sql`
    select ${matchesKey(
      "a.id",
      "b.id",
      rows.map(({ id }) => id),
    )}
    from ${recordset("one", columns, rows)}, ${countedRecordset("other", columns, rows)}
  `;
  expect(textOf(statement([first, first]))).toBe(textOf(statement([first])));
  expect(textOf(statement([first]))).not.toContain("con_1");
});

test("a row whose member has another type than its column does not compile", () => {
  // @ts-expect-error the column can't be null
  recordset("row", columns, [{ ...first, at: null }]);
  // @ts-expect-error an integer is no text
  recordset("row", columns, [{ ...first, position: "1" }]);
  // @ts-expect-error a status that does not exist
  recordset("row", columnsOf("messages", "status"), [{ status: "lost" }]);
  // @ts-expect-error the table does not have the column
  expect(columnOf("contacts", "surname")).toEqual({ type: undefined });
});
