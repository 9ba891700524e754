/**
 * The types of the tables are those of the database that the migrations make.
 *
 * @module-tag both
 */
import { expect, test } from "vitest";
import { isCurrent, readFiles, renderFiles } from "../scripts/schema-types/files.ts";
import { renderTables } from "../scripts/schema-types/render.ts";
import { openDatabase } from "../src/database/connect.ts";
import { silentLog } from "./support/app.ts";
import { createTestDatabase } from "./support/database.ts";

test("the generated types of the tables are those of the database", async () => {
  await using fresh = await createTestDatabase();
  const { DATABASE_URL: url, TIDINGS_DATA_DIR: dataDir = "" } = fresh.env;
  await using database = await openDatabase({ url, dataDir, log: silentLog });
  expect(readFiles()).toEqual(await renderFiles(database.queries));
  expect(isCurrent()).toBe(true);
});

const column = {
  table: "notes",
  column: "content",
  type: "jsonb",
  is_nullable: true,
  has_default: true,
  is_computed: false,
};
const declare = (members: Record<string, { comment: string; type: string }>) => ({
  members: new Map(Object.entries(members)),
  exports: new Map([["Content", "notes.ts"]]),
});

test("a declared type and its comment stand in the generated table, with what the database says of the column", () => {
  const declared = declare({ "notes.content": { comment: "/** In Markdown. */", type: "Content" } });
  const text = renderTables(
    [column, { ...column, column: "words", type: "tsvector", is_computed: true }],
    declared,
  );
  expect(text).toContain(
    "/** In Markdown. */\ncontent: GeneratedJson<Content> | null;\nwords: ComputedColumn<string> | null;",
  );
  expect(text).toContain('import type { Content } from "./notes.ts";');
});

test("a declaration of a column that no migration makes is rejected", () => {
  const declared = declare({ "notes.contents": { comment: "", type: "Content" } });
  expect(() => renderTables([column], declared)).toThrow(
    "No migration makes what is declared: notes.contents.",
  );
});

test("a column of an SQL type that has no TypeScript type is rejected", () => {
  expect(() => renderTables([{ ...column, type: "money" }], declare({}))).toThrow(
    "The column notes.content has the SQL type money, which has no type yet.",
  );
});
