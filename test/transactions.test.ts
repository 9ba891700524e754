/**
 * Transactions whose statements are sent together, and batches of work, on both engines.
 *
 * @module-tag both
 */
import { sql } from "kysely";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { openDatabase } from "../src/database/connect.ts";
import type { Database, DatabaseTransaction } from "../src/database/database.ts";
import { coalesce } from "../src/database/sharing/coalesce.ts";
import { keepPlans, together } from "../src/database/transaction.ts";
import { silentLog } from "./support/app.ts";
import { createTestDatabase, type TestDatabase } from "./support/database.ts";
import { isPooled } from "./support/postgres.ts";

let fresh: TestDatabase;
let database: Database;

beforeAll(async () => {
  fresh = await createTestDatabase();
  const { DATABASE_URL: url, TIDINGS_DATA_DIR: dataDir = "" } = fresh.env;
  database = await openDatabase({ url, dataDir, log: silentLog, poolSize: 1, isMaintained: false });
});

beforeEach(async () => {
  await sql`drop table if exists notes`.execute(database.queries);
  await sql`create table notes (id integer primary key, text text)`.execute(database.queries);
});

afterAll(async () => {
  await database[Symbol.asyncDispose]();
  await fresh[Symbol.asyncDispose]();
});

const insert = (tx: DatabaseTransaction, id: number, text = "a") =>
  sql`insert into notes values (${id}, ${text})`.execute(tx);

async function readNotes() {
  const { rows } = await sql<{ id: number }>`select * from notes order by id`.execute(database.queries);
  return rows;
}

/** The statements that `work` sends, and how often it waits for their answers. */
async function countSent(work: () => Promise<unknown>) {
  const before = database.pool();
  await work();
  const { statements, waits } = database.pool();
  return { statements: statements - before.statements, waits: waits - before.waits };
}

test("statements that are sent together, BEGIN and those for the COMMIT, cost two waits and keep their order", async () => {
  const sent = await countSent(() =>
    database.transaction(async (tx) => {
      await together(
        insert(tx, 1, "first"),
        sql`update notes set text = text || ${" second"} where id = 1`.execute(tx),
      );
      tx.sendWithCommit(() => sql`update notes set text = text || ${" third"} where id = 1`.execute(tx));
    }),
  );
  expect(sent).toEqual({ statements: 5, waits: 2 });
  expect(await readNotes()).toEqual([{ id: 1, text: "first second third" }]);
});

test("of statements that are sent together, the error of the one that failed first is thrown, and nothing is stored", async () => {
  const unknown = (tx: DatabaseTransaction) => sql`select * from nothing`.execute(tx);
  const failing = database.transaction(async (tx) => {
    const later = async () => {
      await insert(tx, 1);
      await insert(tx, 2);
    };
    await together(later(), insert(tx, 3), unknown(tx), insert(tx, 4));
  });
  await expect(failing).rejects.toMatchObject({ code: "42P01" });
  expect(await readNotes()).toEqual([]);
});

test("a statement that is sent with the COMMIT and fails rolls the transaction back", async () => {
  const calls: string[] = [];
  const failing = database.transaction(async (tx) => {
    tx.afterCommit(() => calls.push("committed"));
    await insert(tx, 1);
    tx.sendWithCommit(() => insert(tx, 1));
  });
  await expect(failing).rejects.toMatchObject({ code: "23505" });
  expect(await readNotes()).toEqual([]);
  expect(calls).toEqual([]);
});

test("a statement of a transaction that has ended is an error, and does not run", async () => {
  const { tx } = await database.transaction(async (open) => ({ tx: open }));
  await expect(insert(tx, 1)).rejects.toThrow("The transaction has ended");
  const failed: DatabaseTransaction[] = [];
  await database
    .transaction(async (open) => {
      failed.push(open);
      throw new Error("no");
    })
    .catch(() => undefined);
  await expect(insert(failed[0] ?? expect.fail("no transaction"), 1)).rejects.toThrow("has ended");
  expect(await readNotes()).toEqual([]);
});

test.each([0, 1, 2])(
  "a connection that breaks after %i of the parts of a transaction stores no row",
  async (parts) => {
    const spy = vi.spyOn(pg.Client.prototype, "query");
    const broken = database.transaction(async (tx) => {
      const breakAt = (part: number) => {
        if (part === parts) {
          (spy.mock.contexts.at(-1) as pg.Client).connection.stream.destroy();
        }
      };
      const first = together(insert(tx, 1), insert(tx, 2));
      breakAt(0);
      await first;
      const second = together(insert(tx, 3), insert(tx, 4));
      breakAt(1);
      await second;
      tx.sendWithCommit(() => {
        const last = insert(tx, 5);
        breakAt(2);
        return last;
      });
    });
    await expect(broken).rejects.toThrow();
    spy.mockRestore();
    await expect.poll(readNotes).toEqual([]);
  },
);

test.skipIf(isPooled)(
  "a transaction that keeps its plans uses indexes, also of a table that was empty when they were made",
  async () => {
    await sql`analyze notes`.execute(database.queries);
    const read = "select text from notes where id = $1";
    const plans = await database.transaction(async (tx) => {
      await keepPlans(tx);
      await sql`select text from notes where id = ${1}`.execute(tx);
      const { rows } = await sql<{ name: string; generic_plans: number }>`
      select name, generic_plans from pg_prepared_statements where statement = ${read}
    `.execute(tx);
      const [statement] = rows;
      const explained = await sql<object>`explain execute ${sql.ref(statement?.name ?? "")} (7)`.execute(tx);
      return { generic: statement?.generic_plans, plan: Object.values(explained.rows[0] ?? {})[0] };
    });
    expect(plans).toMatchObject({ generic: 1, plan: expect.stringContaining("Index Scan") });
    const settings = await sql`
    select current_setting('plan_cache_mode') as mode, current_setting('enable_seqscan') as seqscan
  `.execute(database.queries);
    expect(settings.rows).toEqual([{ mode: "force_custom_plan", seqscan: "on" }]);
  },
);

describe("a batch", () => {
  const batches: number[][] = [];
  const store = coalesce(async (db: Database, ids: readonly number[]) => {
    batches.push([...ids]);
    await db.transaction(async (tx) => together(...ids.map((id) => insert(tx, id))));
    return ids.map((id) => `stored ${id}`);
  });

  test("holds what arrives together; what the database rejects fails alone", async () => {
    const results = await Promise.allSettled([1, 2, 2, 3].map((id) => store(database, id)));
    expect(results.map((one) => (one.status === "fulfilled" ? one.value : one.reason.code))).toEqual([
      "stored 1",
      "stored 2",
      "23505",
      "stored 3",
    ]);
    expect(batches).toEqual([[1, 2, 2, 3], [1], [2], [2], [3]]);
    expect(await readNotes()).toHaveLength(3);
  });
});

describe("on PostgreSQL", { tags: "postgres" }, () => {
  test.skipIf(isPooled)(
    "a server that ends the connection between statements that were sent together stores no row",
    async () => {
      let tries = 0;
      const ended = database.transaction(async (tx) => {
        tries += 1;
        await together(
          insert(tx, 1),
          sql`select pg_terminate_backend(pg_backend_pid())`.execute(tx),
          insert(tx, 2),
        );
      });
      await expect(ended).rejects.toMatchObject({ code: "57P01" });
      expect(tries).toBe(3);
      expect(await readNotes()).toEqual([]);
    },
  );
});
