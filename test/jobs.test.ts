/**
 * Jobs: enqueued in a transaction, run after its commit, in order within a key.
 *
 * @module-tag both
 */
import { setImmediate as yieldToOthers } from "node:timers/promises";
import { sql } from "kysely";
import { expect, test } from "vitest";
import type { Database, DatabaseTransaction } from "../src/database/database.ts";
import { makeJob, recordRuns, useJobsFixture } from "./support/jobs-fixture.ts";
import { isPooled } from "./support/postgres.ts";

const minute = 60_000;
const fixture = useJobsFixture();

test("a job enqueued in a transaction that rolls back never runs", async () => {
  const { runs, definition } = recordRuns("a.b");
  const jobs = fixture.create([definition]);
  const rolledBack = fixture.database.transaction(async (tx) => {
    await jobs.enqueue(tx, [makeJob("a.b")]);
    throw new Error("no");
  });
  await expect(rolledBack).rejects.toThrow("no");
  expect(await jobs.runDue()).toBe(0);
  expect(runs).toEqual([]);
});

test("a job starts when its transaction commits, not before and not at the next poll", async () => {
  const { runs, definition } = recordRuns("a.b");
  const jobs = fixture.create([definition], { pollMs: 60 * minute });
  jobs.start();
  // Once this job is deleted, the worker waits for its next poll.
  await fixture.enqueue(jobs, makeJob("a.b", { n: 1 }));
  await fixture.waitUntilEmpty();
  await fixture.database.transaction(async (tx) => {
    await jobs.enqueue(tx, [makeJob("a.b", { n: 2 })]);
    expect(runs).toEqual([{ n: 1 }]);
  });
  await expect.poll(() => runs).toEqual([{ n: 1 }, { n: 2 }]);
  await fixture.waitUntilEmpty();
});

test("payloads arrive unchanged, including null, and every job of a large batch runs", async () => {
  const { runs, definition } = recordRuns("a.b");
  const jobs = fixture.create([definition]);
  const payloads = [
    null,
    "text",
    { deep: [1, { ü: "\u2028" }] },
    ...Array.from({ length: 500 }, (_, n) => n),
  ];
  await fixture.enqueue(
    jobs,
    ...payloads.map((payload, n) => makeJob("a.b", payload, { lane: String(n % 7) })),
  );
  expect(await jobs.runDue()).toBe(503);
  expect(new Set(runs.map((one) => JSON.stringify(one)))).toEqual(
    new Set(payloads.map((one) => JSON.stringify(one))),
  );
  expect(await fixture.waiting()).toEqual([]);
});

test("a deduplicated job is added once while it waits to start, and again after it has started", async () => {
  const { runs, definition } = recordRuns("a.b");
  const jobs = fixture.create([definition]);
  const add = (n: number) => fixture.enqueue(jobs, makeJob("a.b", n, { key: "k", isDeduplicated: true }));
  await add(1);
  await add(1);
  await fixture.enqueue(jobs, makeJob("a.b", 3, { key: "k" }));
  await jobs.runDue();
  expect(runs).toEqual([1, 3]);
  await add(1);
  await jobs.runDue();
  expect(runs).toEqual([1, 3, 1]);
});

test("a deduplicated job is added when the waiting job of its key has another payload", async () => {
  const { runs, definition } = recordRuns("a.b");
  const jobs = fixture.create([definition]);
  await fixture.enqueue(jobs, makeJob("a.b", 1, { key: "k" }));
  await fixture.enqueue(jobs, makeJob("a.b", 2, { key: "k", isDeduplicated: true }));
  await jobs.runDue();
  expect(runs).toEqual([1, 2]);
});

test("a job does not run before its runAt", async () => {
  const { runs, definition } = recordRuns("a.b");
  const jobs = fixture.create([definition]);
  await fixture.enqueue(jobs, makeJob("a.b", 1, { runAt: new Date(fixture.now().getTime() + minute) }));
  await jobs.runDue();
  expect(runs).toEqual([]);
  fixture.advance(minute);
  await jobs.runDue();
  expect(runs).toEqual([1]);
});

test("jobs of one key run one at a time and in order, even while an earlier one is retried", async () => {
  let atOnce = 0;
  let failures = 0;
  const { runs, definition } = recordRuns("a.b", async (payload) => {
    atOnce += 1;
    expect(atOnce).toBe(1);
    await yieldToOthers();
    atOnce -= 1;
    if (payload === 2 && failures < 2) {
      failures += 1;
      throw new Error("not yet");
    }
    return undefined;
  });
  const jobs = fixture.create([definition]);
  await fixture.enqueue(jobs, ...[1, 2, 3].map((n) => makeJob("a.b", n, { key: "k" })));
  await fixture.enqueue(jobs, makeJob("a.b", 4, { key: "k", lane: "another" }));
  await jobs.runDue();
  expect(runs).toEqual([1, 2]);
  fixture.advance(minute);
  await jobs.runDue();
  fixture.advance(minute);
  await jobs.runDue();
  expect(runs).toEqual([1, 2, 2, 2, 3, 4]);
});

test("a key that waits for a retry delays no other key of its lane", async () => {
  const { runs, definition } = recordRuns("a.b", async (payload) => {
    if (payload === "bad") {
      throw new Error("no");
    }
    return undefined;
  });
  const jobs = fixture.create([definition]);
  await fixture.enqueue(
    jobs,
    ...["bad", "behind"].map((one) => makeJob("a.b", one, { key: "k", lane: "lane" })),
  );
  await fixture.enqueue(
    jobs,
    ...["x", "y"].map((one) => makeJob("a.b", one, { key: one, lane: "lane" })),
    makeJob("a.b", "z", { lane: "lane" }),
  );
  await jobs.runDue();
  expect(new Set(runs)).toEqual(new Set(["bad", "x", "y", "z"]));
});

test("jobs behind the retry of their key become due with it", async () => {
  const { definition } = recordRuns("a.b", () => Promise.reject(new Error("no")));
  const jobs = fixture.create([definition]);
  const later = new Date(fixture.now().getTime() + minute);
  await fixture.enqueue(jobs, ...["k", "k", "j"].map((key) => makeJob("a.b", null, { key })));
  await fixture.enqueue(jobs, makeJob("a.b", null, { key: "k", runAt: later }));
  await jobs.runDue();
  const [first, second, , fourth] = await fixture.waiting();
  expect(second).toMatchObject({ run_at: first?.run_at, attempts: 0 });
  expect(fourth?.run_at).toBe(later.toISOString());
});

test("a job of an unknown name is not run, stays unchanged and is logged", async () => {
  await fixture.enqueue(fixture.create([recordRuns("new.job").definition]), makeJob("new.job", 1));
  const before = await fixture.waiting();
  const jobs = fixture.create([recordRuns("a.b").definition]);
  expect(await jobs.runDue()).toBe(0);
  expect(await fixture.waiting()).toEqual(before);
  expect(fixture.logged).toEqual([expect.stringContaining("does not know")]);
  await expect(fixture.enqueue(jobs, makeJob("a.typo"))).rejects.toThrow("a.typo");
});

test.skipIf(isPooled)(
  "a claim prepared on the empty table uses the indexes once the table is full",
  async () => {
    const rowsRead: number[] = [];
    const database: Database = {
      ...fixture.database,
      transaction: (transact, options) =>
        fixture.database.transaction(async (tx) => {
          const before = await countScannedRows(tx);
          const result = await transact(tx);
          rowsRead.push((await countScannedRows(tx)) - before);
          return result;
        }, options),
    };
    const definitions = [recordRuns("a.b").definition, recordRuns("c.d").definition];
    const jobs = fixture.create(definitions, { database });
    await sql`vacuum analyze jobs`.execute(fixture.database.queries);
    for (let n = 0; n < 8; n += 1) {
      // Unlike runDue, polls although nothing is due.
      await jobs.whenIdle();
    }
    const at = fixture.now();
    await sql`
    insert into jobs (id, name, lane, key, payload, run_at, created_at)
    select 'job_' || lpad(n::text, 26, '0'), 'a.b', 'l' || n % 50, 'k' || n % 1000, 'null',
      ${new Date(at.getTime() + minute).toISOString()}, ${at.toISOString()}
    from generate_series(1, 20000) n
  `.execute(fixture.database.queries);
    // Each waits for the jobs of its key.
    await fixture.enqueue(
      jobs,
      ...Array.from({ length: 50 }, (_, m) => makeJob("c.d", null, { key: `k${m}`, lane: `l${m}` })),
    );
    rowsRead.length = 0;
    await jobs.whenIdle();
    // One poll for each priority.
    expect(rowsRead).toEqual([0, 0]);
    expect(await jobs.runDue()).toBe(0);
  },
);

/**
 * How many rows of the table sequential scans have read, as this session knows before it reports its figures.
 */
async function countScannedRows(tx: DatabaseTransaction): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select seq_tup_read as count from pg_stat_xact_user_tables where relname = 'jobs'
  `.execute(tx);
  return rows[0]?.count ?? 0;
}
