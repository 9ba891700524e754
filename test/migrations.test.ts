/**
 * Migrations: each all or nothing, once by several processes, and beside processes of the previous version.
 *
 * @module-tag both
 */
import { randomBytes } from "node:crypto";
import { type Kysely, sql } from "kysely";
import { describe, expect, inject, test } from "vitest";
import { openDatabase } from "../src/database/connect.ts";
import type { Database, Queries } from "../src/database/database.ts";
import { migrate } from "../src/database/migrate.ts";
import { migrations } from "../src/database/migrations/index.ts";
import { silentLog } from "./support/app.ts";
import { createTestDatabase } from "./support/database.ts";
import { runOnServer, serverUrl, withDatabase } from "./support/postgres.ts";

const server = serverUrl ?? "";

test("a failed migration is named in the error and rolled back", async () => {
  await using fresh = await createTestDatabase();
  const { DATABASE_URL: url, TIDINGS_DATA_DIR: dataDir = "" } = fresh.env;
  await using database = await openDatabase({ url, dataDir, log: silentLog });
  const up = async (tables: Queries) => {
    await sql`create table half (id integer)`.execute(tables);
    await sql`select 1 / 0`.execute(tables);
  };
  await expect(migrate(database, { ...migrations, "9999-broken": { up } })).rejects.toThrow(
    "Migration 9999-broken failed: division by zero",
  );
  const { rows } = await sql`select to_regclass('half') as half`.execute(database.queries);
  expect(rows).toEqual([{ half: null }]);
  await migrate(database);
});

test("the migrations before a failed one stay, and the next start continues after them", async () => {
  await using fresh = await createTestDatabase();
  const { DATABASE_URL: url, TIDINGS_DATA_DIR: dataDir = "" } = fresh.env;
  await using database = await openDatabase({ url, dataDir, log: silentLog });
  await migrate(database);
  const known = { ...migrations, "9998-first": migrationOf("create table first (id integer)") };
  try {
    const failing = { ...known, "9999-next": migrationOf("select 1 / 0") };
    await expect(migrate(database, failing)).rejects.toThrow("9999-next failed");
    const repaired = { ...known, "9999-next": migrationOf("alter table first add column more text") };
    expect((await migrate(database, repaired)).map(({ name }) => name)).toEqual(["9999-next"]);
  } finally {
    // Other tests use the database after this one.
    await sql`drop table first`.execute(database.queries);
    await sql`delete from kysely_migration where name > '9'`.execute(database.queries);
  }
});

test("a database that a newer version wrote is called newer, and nothing of it changes", async () => {
  await using fresh = await createTestDatabase();
  const { DATABASE_URL: url, TIDINGS_DATA_DIR: dataDir = "" } = fresh.env;
  await using database = await openDatabase({ url, dataDir, log: silentLog });
  await migrate(database);
  const up = async () => {
    const end = performance.now() + 5;
    while (performance.now() < end) {
      // The duration of a migration is reported.
    }
  };
  const [later] = await migrate(database, { ...migrations, "9999-later": { up } });
  expect(later?.name).toBe("9999-later");
  expect(later?.ms).toBeGreaterThanOrEqual(5);
  try {
    await expect(migrate(database)).rejects.toThrow(
      "A newer version of Tidings wrote this database: it has the migration 9999-later, which this version does not know.",
    );
    const { rows } = await sql`select from kysely_migration where name = '9999-later'`.execute(
      database.queries,
    );
    expect(rows).toHaveLength(1);
  } finally {
    // Other tests use the database after this one.
    await sql`delete from kysely_migration where name = '9999-later'`.execute(database.queries);
  }
});

/**
 * Opens an empty database of the server several times. The end of the run drops it, as it does the copies
 * of the template: it makes the server write every changed page to the disk, which takes half a minute
 * while other tests write.
 */
async function withInstances(count: number, use: (instances: readonly Database[]) => Promise<void>) {
  const name = `${inject("template")}_${randomBytes(6).toString("hex")}`;
  await runOnServer(server, `create database ${name}`);
  const open = () => openDatabase({ url: withDatabase(server, name), dataDir: "", log: silentLog });
  const instances = await Promise.all(Array.from({ length: count }, open));
  await use(instances);
  await Promise.all(instances.map((instance) => instance[Symbol.asyncDispose]()));
}

describe("on PostgreSQL", { tags: "postgres" }, () => {
  test("three instances migrate at once: one runs the migrations and none fails", async () => {
    await withInstances(3, async (instances) => {
      await Promise.all(instances.map((instance) => migrate(instance)));
      for (const { queries } of instances) {
        const { rows } = await sql`select name from kysely_migration`.execute(queries);
        expect(rows).toHaveLength(Object.keys(migrations).length);
      }
    });
  });

  test("a migration gives way to a transaction that holds its table, and runs after it", async () => {
    await withInstances(2, async ([old, next]) => {
      if (!old || !next) {
        throw new Error("Two instances were opened.");
      }
      await sql`create table notes (id integer primary key)`.execute(old.queries);
      const up = async (db: Kysely<unknown>) => {
        await sql`alter table notes add column more text`.execute(db);
      };
      const { migrating } = await old.transaction(async (tx) => {
        await sql`insert into notes values (1)`.execute(tx);
        const migrating = migrate(next, { "0001-more": { up } });
        // It is awaited after the commit.
        migrating.catch(() => undefined);
        await expect.poll(() => countWaiting(old)).toBe(1);
        await expect.poll(() => countWaiting(old)).toBe(0);
        return { migrating };
      });
      await migrating;
      const { rows } = await sql`select * from notes`.execute(next.queries);
      expect(rows).toEqual([{ id: 1, more: null }]);
    });
  });

  // A send locks its conversation before the record of acts. Migrations of both in one transaction held the
  // record while they waited for the conversations, so that under load they were rolled back without end.
  test("a migration that waits for its table holds no lock of the migrations before it", async () => {
    await withInstances(2, async ([old, next]) => {
      if (!old || !next) {
        throw new Error("Two instances were opened.");
      }
      const tables = migrationOf("create table acts (id integer); create table conversations (id integer)");
      const known = {
        "0001-tables": tables,
        "0002-acts": migrationOf("alter table acts add column more text"),
        "0003-conversations": migrationOf("alter table conversations add column more text"),
      };
      await migrate(next, { "0001-tables": tables });
      const { migrating } = await old.transaction(async (tx) => {
        await sql`insert into conversations values (1)`.execute(tx);
        const migrating = migrate(next, known);
        // It is awaited after the commit.
        migrating.catch(() => undefined);
        await expect.poll(() => countWaiting(old)).toBe(1);
        await sql`lock table acts in row exclusive mode nowait`.execute(tx);
        return { migrating };
      });
      expect((await migrating).map(({ name }) => name)).toEqual(["0002-acts", "0003-conversations"]);
    });
  });
});

/** A migration that runs these statements. */
function migrationOf(statements: string) {
  return {
    async up(database: Kysely<unknown>) {
      for (const statement of statements.split("; ")) {
        await sql.raw(statement).execute(database);
      }
    },
  };
}

async function countWaiting({ queries }: Database): Promise<number> {
  const { rows } = await sql`
    select from pg_locks where not granted
      and database = (select oid from pg_database where datname = current_database())
  `.execute(queries);
  return rows.length;
}
