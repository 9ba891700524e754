/**
 * `tidings upgrade`: what the pending migrations would do, and their run.
 *
 * @module-tag postgres
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { locksOf } from "../src/cli/manage/statement-locks.ts";
import { createPostgresTarget } from "./support/backups.ts";
import { runCommand } from "./support/command.ts";
import type { TestDatabase } from "./support/database.ts";
import { connectTo } from "./support/postgres.ts";
import { loadDump } from "./support/version-dumps.ts";

describe("the database of an earlier version", () => {
  let earlier: TestDatabase;

  beforeAll(async () => {
    earlier = await loadDump("0047");
  });

  afterAll(() => earlier[Symbol.asyncDispose]());

  const upgrade = (...args: string[]) => runCommand(["upgrade", ...args], earlier.env);

  test("is checked: each statement with the lock and the size of a table that is there; nothing runs", async () => {
    const { status, stdout } = await upgrade("--check");
    expect(status).toBe(0);
    expect(stdout).toContain(
      "  alter table api_keys add column rule_holders text[] not null default '{}'\n    ACCESS EXCLUSIVE on api_keys, which blocks reads and writes: about ",
    );
    // A table that a pending migration creates blocks nobody.
    expect(stdout).not.toContain("SHARE on plans");
    expect((await upgrade("--check")).stdout).toBe(stdout);
  });

  test("is not migrated by a command that reads", async () => {
    const { status, stderr } = await runCommand(["keys", "list"], earlier.env);
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr:
        "tidings: This version has migrations that have not run on this database, such as 0048-plans. Run tidings upgrade first, or use the version of the service.\n",
    });
    expect((await upgrade("--check")).stdout).toMatch(/^0048-plans\n/);
  });

  test("is migrated once, with the time of each migration; after it a check has nothing to show", async () => {
    const { stdout } = await upgrade("--on", earlier.env.DATABASE_URL ?? "");
    expect(stdout).toMatch(/^0048-plans {2}\d+\.\d\d s\n0049-acts {2}/);
    expect((await upgrade()).stdout).toBe("All migrations have run.\n");
    expect((await upgrade("--check", "--json")).stdout).toBe("[]\n");
  });

  test("that a newer version wrote is called newer", async () => {
    await using client = await connectTo(earlier.env.DATABASE_URL ?? "");
    await client.query("insert into kysely_migration values ('9999-later', 'now')");
    const { status, stderr } = await upgrade("--check");
    expect([status, stderr]).toEqual([1, expect.stringContaining("has the migration 9999-later")]);
  });
});

test("a database stays empty after a command that reads, also with the tables of an upgrade", async () => {
  await using target = (await createPostgresTarget()) ?? expect.fail("There is no server.");
  const notStarted = {
    status: 1,
    stderr:
      "tidings: No service was started on this database yet. Set DATABASE_URL to the service's, or run tidings serve.\n",
  };
  expect(await runCommand(["keys", "list"], target.env)).toMatchObject(notStarted);
  await using client = await connectTo(target.env.DATABASE_URL ?? "");
  const tables = await client.query(
    "select relname from pg_class where relnamespace = 'public'::regnamespace",
  );
  expect(tables).toEqual([]);
  expect(await runCommand(["upgrade"], target.env)).toMatchObject({ status: 0 });
  expect(await runCommand(["keys", "list"], target.env)).toMatchObject(notStarted);
  expect(await client.query("select id from organizations")).toEqual([]);
});

test("what --on names must be the address of a database", async () => {
  const { status, stderr } = await runCommand(["upgrade", "--on", "tidings"]);
  expect([status, stderr]).toEqual([
    1,
    "tidings: DATABASE_URL takes a PostgreSQL address, for example postgres://user@host:5432/name.\n",
  ]);
});

test("the embedded database is left to the start of the service", async () => {
  const { status, stderr } = await runCommand(["upgrade"], { DATABASE_URL: "" });
  expect([status, stderr]).toEqual([1, expect.stringContaining("migrated when the service starts")]);
});

test.each([
  ["alter table messages add column a text", [["messages", "ACCESS EXCLUSIVE"]]],
  ["ALTER TABLE only public.messages VALIDATE CONSTRAINT a", [["messages", "SHARE UPDATE EXCLUSIVE"]]],
  ["create unique index a on messages (id)", [["messages", "SHARE"]]],
  ["create index concurrently a on messages (id)", [["messages", "SHARE UPDATE EXCLUSIVE"]]],
  ["create trigger a after insert on messages execute function b()", [["messages", "SHARE ROW EXCLUSIVE"]]],
  ["update messages set a = 1", [["messages", "ROW EXCLUSIVE"]]],
  [
    "with a as (delete from contacts returning id) update messages set b = a.id from a",
    [
      ["contacts", "ROW EXCLUSIVE"],
      ["messages", "ROW EXCLUSIVE"],
    ],
  ],
  ["alter table messages set (fillfactor = 70)", [["messages", "SHARE UPDATE EXCLUSIVE"]]],
  ["drop index if exists contacts_phone_number", [["contacts_phone_number", "ACCESS EXCLUSIVE"]]],
  ["drop table messages", [["messages", "ACCESS EXCLUSIVE"]]],
  ["create table a (b text references messages (id))", [["messages", "SHARE ROW EXCLUSIVE"]]],
  [
    "alter table contacts add column b text references messages (id)",
    [
      ["contacts", "ACCESS EXCLUSIVE"],
      ["messages", "SHARE ROW EXCLUSIVE"],
    ],
  ],
  ["create function a() returns integer language sql as 'select 1'", []],
])("%s locks %j", (statement, expected) => {
  expect(locksOf(statement).map(({ table, mode }) => [table, mode])).toEqual(expected);
});
