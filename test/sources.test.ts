/** How the tables are found that a source names and writes. */
import { describe, expect, test } from "vitest";
import { findTables } from "./support/tables.ts";

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: they are templates of the sources.

const tables = new Set(["contacts", "users", "jobs"]);
const find = (text: string) => findTables("src/platform/inbox/teams/example.ts", text, tables);

describe("reads", () => {
  test.each([
    // Kysely
    'db.selectFrom("contacts").selectAll()',
    'db.selectFrom("contacts as one")',
    'db.selectFrom("public.contacts as one")',
    'db.selectFrom(["teams", "contacts as one"])',
    "db.selectFrom(`contacts`)",
    'query.innerJoin("contacts", (join) => join)',
    'query.leftJoin("contacts as one", "one.id", "other.id")',
    'query.innerJoinLateral((eb) => eb.selectFrom("contacts").as("one"), (join) => join)',
    'query.using("contacts")',
    'db.updateTable("teams").from("contacts")',
    'db.selectFrom(db.selectFrom("contacts").as("one"))',
    // SQL
    "sql`select 1 from contacts where true`",
    "sql`select 1 from contacts`",
    "sql`SELECT 1 FROM Contacts`",
    'sql`select 1 from "contacts"`',
    "sql`select 1 from only contacts`",
    "sql`select 1 from public.contacts`",
    'sql`select 1 from "public"."contacts"`',
    "sql`from teams as one, contacts as other`",
    "sql`from teams as one, inboxes, contacts`",
    "sql`from ${query} as one, contacts`",
    "sql`join contacts using (id)`",
    "sql`left join lateral (select from contacts)`",
    "sql`delete from teams using contacts`",
    "sql`delete from teams using inboxes, contacts`",
    "sql`merge into teams using contacts on true`",
    "sql`copy contacts to stdout`",
    "sql`lock table contacts`",
    "sql`table contacts`",
    "sql`select '--', 'it''s', e'it\\'s' from contacts`",
    "sql<Row>`select 1 from contacts`",
    "sql.raw('select 1 from contacts')",
    // The name stands elsewhere than the statement.
    'const tables = ["contacts"];',
    'const tables = { one: "contacts" };',
    "export const table = `contacts`;",
    'const table = sql.ref("contacts");',
    'const table = sql.table("contacts");',
    "const table = sql`contacts`;",
    'refersTo("teams.contact_id", "contacts")',
  ])("are found in %s", (source) => {
    expect(find(source)).toMatchObject({ named: ["contacts"], unclear: [] });
  });

  test.each([
    "// from contacts",
    "/** Reads from contacts. */",
    'const text = "from contacts";',
    "const path = `/contacts/${id}`;",
    'type Row = Tables["contacts"];',
    "sql`select 1 -- from contacts`",
    "sql`select 1 /* from contacts */`",
    "sql`select 'contacts'`",
    "sql`select one.contacts, count(*) as contacts from teams as one`",
  ])("are not found in %s", (source) => {
    expect(find(source)).toEqual({ named: [], written: [], unclear: [] });
  });
});

describe("writes", () => {
  test.each([
    // Kysely
    'tx.updateTable("contacts")',
    'tx.updateTable("contacts as one")',
    'tx.updateTable(["contacts"])',
    'db.insertInto("contacts")',
    "db.insertInto(`contacts`)",
    'db.replaceInto("contacts")',
    'tx.deleteFrom("contacts")',
    'tx.mergeInto("contacts")',
    'ofOrganization(tx, organization).updateTable("contacts")',
    'insertAll(tx, "contacts", rows)',
    'deleteOld(tx, { table: "contacts", column: "created_at", before })',
    // SQL
    "sql`with batch as (insert into contacts (id) select 1) select`",
    'sql`insert into "contacts" (id) select 1`',
    "sql`INSERT INTO Contacts (id) select 1`",
    "sql`insert into public.contacts (id) select 1`",
    "sql`update contacts set name = null`",
    "sql`update only contacts as contact set name = null`",
    "sql`delete from contacts where id = 1`",
    'sql`delete from only public."contacts" where id = 1`',
    "sql`merge into contacts using teams on true when matched then update set name = null`",
    "sql`truncate contacts`",
    "sql`truncate table only contacts cascade`",
    "sql`truncate teams, contacts`",
    "sql`copy contacts (id) from stdin`",
    'CompiledQuery.raw("delete from contacts")',
  ])("are found in %s", (source) => {
    expect(find(source)).toMatchObject({ written: ["contacts"], unclear: [] });
  });

  test.each([
    'db.selectFrom("contacts").forUpdate()',
    "sql`select 1 from contacts for update of contacts`",
    "sql`select 1 from contacts for no key update skip locked`",
    "sql`insert into teams (id) select id from contacts on conflict (id) do update set name = null`",
    "sql`copy (select from contacts) to stdout`",
  ])("are not found in %s", (source) => {
    expect(find(source)).toEqual({ named: ["contacts"], written: [], unclear: [] });
  });
});

describe("a table in a variable", () => {
  test.each([
    "tx.updateTable(table)",
    "tx.deleteFrom(table)",
    "db.insertInto(table)",
    "db.mergeInto(tables.one)",
    "ofOrganization(tx, organization).deleteFrom(table)",
    "insertAll(tx, table, rows)",
    "deleteOld(tx, rule)",
    "sql`insert into ${table} (id) select 1`",
    "sql`update ${sql.table(name)} set id = 1`",
    "sql`delete from only ${table}`",
    "sql`merge into ${table} using other`",
    "sql`truncate ${table}`",
    "db.selectFrom(table)",
    "db.selectFrom(`${prefix}_contacts`)",
    'db.selectFrom("con" + "tacts")',
    'db.selectFrom(["users", table])',
    "db.selectFrom(tableOf(kind))",
    "query.leftJoin(table, on)",
    "sql.table(table)",
    "sql.raw(text)",
    "sql.raw(`select from ${table}`)",
  ])("is reported in %s", (source) => {
    const { unclear } = find(`\n${source};`);
    expect(unclear.length).toBeGreaterThan(0);
    expect(unclear[0]).toMatch(
      /^src\/platform\/inbox\/teams\/example\.ts:2: .*Write the name in the statement\./,
    );
  });

  test("is accepted in a function that gets it from its callers", () => {
    const { unclear } = findTables("src/database/query/insert-all.ts", "sql`insert into ${table}`", tables);
    expect(unclear).toEqual([]);
  });

  test("may be a subquery", () => {
    expect(find('db.selectFrom(newest.as("newest")); query.from(values)').unclear).toEqual([]);
  });
});

// biome-ignore-end lint/suspicious/noTemplateCurlyInString: they are templates of the sources.
