/**
 * The guarantees of the database layer, on both engines.
 *
 * @module-tag both
 */
import { Worker } from "node:worker_threads";
import { sql } from "kysely";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { type DatabaseOptions, openDatabase } from "../src/database/connect.ts";
import type { Database, DatabaseTransaction, Queries } from "../src/database/database.ts";
import { vacuumChanged } from "../src/database/embedded/maintenance.ts";
import { withoutStatementLimit, withoutTimeLimits } from "../src/database/outage/index.ts";
import { silentLog } from "./support/app.ts";
import { createTestDatabase, type TestDatabase } from "./support/database.ts";
import { isPooled, serverUrl } from "./support/postgres.ts";

const server = serverUrl ?? "";

let fresh: TestDatabase;
let database: Database;

beforeAll(async () => {
  fresh = await createTestDatabase();
  database = await open({ poolSize: 1 });
});

beforeEach(async () => {
  await sql`drop table if exists notes`.execute(database.queries);
  await sql`create table notes (id integer primary key, text text)`.execute(database.queries);
});

afterAll(async () => {
  await database[Symbol.asyncDispose]();
  await fresh[Symbol.asyncDispose]();
});

function open(options: Partial<DatabaseOptions> = {}): Promise<Database> {
  const { DATABASE_URL: url, TIDINGS_DATA_DIR: dataDir = "" } = fresh.env;
  return openDatabase({ url, dataDir, log: silentLog, ...options });
}

async function first<Row>(query: ReturnType<typeof sql<Row>>, queries: Queries = database.queries) {
  const { rows } = await query.execute(queries);
  return rows[0];
}

const note = (id: number) => sql`insert into notes values (${id}, 'a')`;
const fails = (tx: DatabaseTransaction, state: string) =>
  sql.raw(`do $$ begin raise exception using errcode = '${state}'; end $$`).execute(tx);

test("times are ISO strings in UTC, whatever the session's zone; counts are numbers, documents are values", async () => {
  const row = await database.transaction(async (tx) => {
    await sql`set local time zone 'Asia/Kolkata'`.execute(tx);
    return await first(
      sql`select timestamptz '2026-03-01T10:00:00.5Z' as at, count(*) as count, '{"a": [1]}'::jsonb as document, '{a,b}'::text[] as tags`,
      tx,
    );
  });
  expect(row).toEqual({ at: "2026-03-01T10:00:00.500Z", count: 1, document: { a: [1] }, tags: ["a", "b"] });
});

test("afterCommit runs only after a commit", async () => {
  const calls: string[] = [];
  await database.transaction(async (tx) => {
    tx.afterCommit(() => calls.push("committed"));
    await note(1).execute(tx);
    expect(calls).toEqual([]);
  });
  expect(calls).toEqual(["committed"]);

  const rolledBack = database.transaction(async (tx) => {
    tx.afterCommit(() => calls.push("rolled back"));
    await note(1).execute(tx);
  });
  await expect(rolledBack).rejects.toMatchObject({ code: "23505" });
  expect(calls).toEqual(["committed"]);
});

test("a commit after a swallowed failure is an error, and afterCommit does not run", async () => {
  const calls: string[] = [];
  const swallowed = database.transaction(async (tx) => {
    tx.afterCommit(() => calls.push("committed"));
    await note(1).execute(tx);
    await note(1)
      .execute(tx)
      .catch(() => undefined);
  });
  await expect(swallowed).rejects.toThrow("The transaction was rolled back");
  expect(calls).toEqual([]);
  expect(await first(sql`select count(*) as count from notes`)).toEqual({ count: 0 });
});

test.each(["40001", "40P01"])("a transaction that fails with %s runs three times at most", async (state) => {
  const calls: number[] = [];
  const attempt = (succeedsAt: number) => {
    let tries = 0;
    return database.transaction(async (tx) => {
      tries += 1;
      const now = tries;
      tx.afterCommit(() => calls.push(now));
      await (now < succeedsAt ? fails(tx, state) : note(succeedsAt).execute(tx));
      return now;
    });
  };
  expect(await attempt(3)).toBe(3);
  expect(calls).toEqual([3]);
  await expect(attempt(4)).rejects.toMatchObject({ code: state });
  expect(calls).toEqual([3]);
});

test("a failed query doesn't discard the connection", async () => {
  await sql`set tidings.mark = 'here'`.execute(database.queries);
  await note(1).execute(database.queries);
  for (let round = 0; round < 20; round += 1) {
    await expect(note(1).execute(database.queries)).rejects.toMatchObject({ code: "23505" });
  }
  expect(await first(sql`select current_setting('tidings.mark', true) as mark`)).toEqual({ mark: "here" });
});

test.skipIf(isPooled)("a statement is prepared once for each text", async () => {
  for (let id = 1; id <= 5; id += 1) {
    await sql`insert into notes values (${id}, 'once')`.execute(database.queries);
  }
  expect(
    await first(
      sql`select count(*) as count from pg_prepared_statements where statement = ${"insert into notes values ($1, 'once')"}`,
    ),
  ).toEqual({ count: 1 });
});

test.skipIf(isPooled)(
  "a connection prepares at most 1,000 statements, and runs more",
  { tags: "postgres" },
  async () => {
    await using own = await open({ poolSize: 1 });
    for (let number = 0; number < 1_010; number += 1) {
      const { rows } = await sql<{
        n: number;
      }>`select ${number}::integer as n -- ${sql.raw(String(number))}`.execute(own.queries);
      expect(rows).toEqual([{ n: number }]);
    }
    const { rows } = await sql<{
      count: number;
    }>`select count(*) as count from pg_prepared_statements`.execute(own.queries);
    expect(rows).toEqual([{ count: 1_000 }]);
  },
);

test.skipIf(isPooled)(
  "a statement prepared on an empty table uses the index once the table is full",
  async () => {
    const { queries } = database;
    await sql`analyze notes`.execute(queries);
    for (let n = 0; n < 10; n += 1) {
      await first(sql`select text from notes where id = ${n}`);
    }
    await sql`insert into notes select n, 'a' from generate_series(1, 20000) as n`.execute(queries);
    const statement = "select text from notes where id = $1";
    const named = await first(
      sql<{ name: string }>`select name from pg_prepared_statements where statement = ${statement}`,
    );
    const plan = async () =>
      Object.values((await first(sql<object>`explain execute ${sql.ref(named?.name ?? "")} (7)`)) ?? {})[0];
    expect(await plan()).toContain("Index Scan");
  },
);

test("a broken connection is replaced, and the names of its prepared statements do not conflict", async () => {
  const spy = vi.spyOn(pg.Client.prototype, "query");
  await note(1).execute(database.queries);
  // The stream, which the types of `pg` do not declare.
  const client = spy.mock.contexts[0] as unknown as { connection: { stream: { destroy(): void } } };
  client.connection.stream.destroy();
  await expect.poll(async () => (await note(2).execute(database.queries)).numAffectedRows).toBe(1n);
  expect(await first(sql`select count(*) as count from notes`)).toEqual({ count: 2 });
});

test.each(["alone", "in a transaction"])(
  "a statement %s that was prepared before a migration is prepared again",
  async (where) => {
    const read = (db: Queries) => sql`select * from notes where id = ${1}`.execute(db);
    const run = () =>
      where === "alone" ? read(database.queries) : database.transaction(async (tx) => read(tx));
    await note(1).execute(database.queries);
    await run();
    await sql`alter table notes add column more text`.execute(database.queries);
    expect((await run()).rows).toEqual([{ id: 1, text: "a", more: null }]);
  },
);

test("data survives closing and reopening; closing twice is allowed", async () => {
  await note(1).execute(database.queries);
  await database[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
  database = await open({ poolSize: 1 });
  expect(await first(sql`select count(*) as count from notes`)).toEqual({ count: 1 });
});

describe("on the embedded engine", { tags: "embedded" }, () => {
  test("a query outside the open transaction fails instead of hanging", async () => {
    const inside = database.transaction(async (tx) => {
      await note(1).execute(tx);
      vi.useFakeTimers({ toFake: ["setTimeout"] });
      const outside = note(2).execute(database.queries);
      vi.advanceTimersByTime(5_000);
      vi.useRealTimers();
      await outside;
    });
    await expect(inside).rejects.toThrow("became free in 5000 ms");
    expect(await first(sql`select count(*) as count from notes`)).toEqual({ count: 0 });
  });

  test("opening a folder that is open already fails", async () => {
    // Each look at the clock finds that the wait for the owner's end is over.
    let time = Date.now();
    vi.spyOn(Date, "now").mockImplementation(() => (time += 10_000));
    await expect(open()).rejects.toThrow(/The data folder .* is already in use/);
  });

  test("when the engine crashes, running and later queries fail and onFailure is called", async () => {
    const spy = vi.spyOn(Worker.prototype, "on");
    await using copy = await createTestDatabase();
    const onFailure = vi.fn();
    const broken = await open({ dataDir: copy.env.TIDINGS_DATA_DIR, onFailure });
    await first(sql`select 1`, broken.queries);
    const running = sql`select sum(n) from generate_series(1, 100000000) n`.execute(broken.queries);
    // The contexts of a spy are the objects on which it was called.
    setImmediate(() => (spy.mock.contexts[0] as Worker).terminate());

    await expect(running).rejects.toThrow("Connection terminated unexpectedly");
    await expect(first(sql`select 1`, broken.queries)).rejects.toThrow();
    await expect.poll(() => onFailure).toHaveBeenCalledOnce();
    await broken[Symbol.asyncDispose]();
  });

  test("maintenance analyzes the tables that changed", async () => {
    await sql`insert into notes select n, 'a' from generate_series(1, 5000) n`.execute(database.queries);
    await vacuumChanged(database.queries);
    expect(await first(sql`select reltuples as count from pg_class where relname = 'notes'`)).toEqual({
      count: 5000,
    });
  });
});

describe("on PostgreSQL", { tags: "postgres" }, () => {
  test.skipIf(isPooled)("a transaction whose connection the server terminates is retried", async () => {
    let tries = 0;
    await database.transaction(async (tx) => {
      tries += 1;
      if (tries === 1) {
        await sql`select pg_terminate_backend(pg_backend_pid())`.execute(tx);
      }
      await note(1).execute(tx);
    });
    expect(tries).toBe(2);
  });

  test("the time limits of the work hold from the first statement of a transaction, and for it alone", async () => {
    await using own = await open({ poolSize: 1 });
    const readLimits = async () =>
      own.transaction(async (tx) => {
        const { rows } = await sql<{ limits: string }>`
          select current_setting('statement_timeout') || ', ' ||
            current_setting('idle_in_transaction_session_timeout') as limits
        `.execute(tx);
        return rows[0]?.limits;
      });
    expect(await withoutTimeLimits(readLimits)).toBe("0, 0");
    expect(await withoutStatementLimit(readLimits)).toBe("0, 15s");
    expect(await readLimits()).toBe("15s, 15s");
  });

  test.skipIf(isPooled)(
    "a session without the names that were given in it is used without names",
    async () => {
      const warnings: string[] = [];
      const log = { ...silentLog, warn: (_: object, message: string) => void warnings.push(message) };
      await using own = await open({ poolSize: 1, log });
      const { queries } = own;
      const read = (id: number) => first(sql`select ${id}::integer as id`, queries);
      await read(1);
      await sql`deallocate all`.execute(queries);
      expect(await own.transaction((tx) => first(sql`select ${2}::integer as id`, tx))).toEqual({ id: 2 });
      await sql`deallocate all`.execute(queries);
      expect(await read(3)).toEqual({ id: 3 });
      expect(await first(sql`select count(*) as count from pg_prepared_statements`, queries)).toEqual({
        count: 0,
      });
      expect(warnings).toEqual([expect.stringMatching(/^A pooler .* does not keep prepared statements/)]);
      // A setting of the session would stay in it for others.
      expect(await first(sql`select current_setting('statement_timeout') as limit`, queries)).toEqual({
        limit: "15s",
      });
    },
  );

  test.each([
    ["a closed port", (url: URL) => Object.assign(url, { port: "1" }), "The connection was refused"],
    ["an unknown database", (url: URL) => Object.assign(url, { pathname: "/missing" }), "does not exist"],
    ["an unknown host", (url: URL) => Object.assign(url, { hostname: "none.invalid" }), /host/],
    ["an unknown user", (url: URL) => Object.assign(url, { username: "missing_user" }), "can't be used"],
  ])("%s fails with advice and without the password", async (_, change, advice) => {
    const url = change(Object.assign(new URL(server), { password: "hunter2" })).href;
    const error = await open({ url }).then(String, String);
    expect(error).toMatch(advice);
    expect(error).not.toContain("hunter2");
  });
});
