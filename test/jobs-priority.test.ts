/** The two priorities: bulk jobs, however many, never delay a normal one. */
import { sql } from "kysely";
import { expect, test } from "vitest";
import type { DatabaseTransaction } from "../src/database/database.ts";
import { claimJobs, nextDueAt } from "../src/jobs/claim/index.ts";
import { readGauges } from "../src/jobs/gauges.ts";
import { type JobDefinition, type NewJob, newJob, type Priority } from "../src/jobs/job.ts";
import type { RunningJobs } from "../src/jobs/jobs.ts";
import { rangeOf, storedLane } from "../src/jobs/priority.ts";
import { anyPayload, makeJob, recordRuns, useJobsFixture } from "./support/jobs-fixture.ts";
import { isPooled } from "./support/postgres.ts";

const lane = "channel:ibx_1";
const fixture = useJobsFixture();

const makeBulk = (name: string, payload: unknown, rest: Partial<NewJob> = {}) =>
  makeJob(name, payload, { lane, ...rest, priority: "bulk" } as Partial<NewJob>); // without a key
const bulkJobs = (count: number, name = "a.bulk") =>
  Array.from({ length: count }, (_, n) => makeBulk(name, n));

/** A job that runs until it is aborted. */
const recordHangingRuns = (name: string) =>
  recordRuns(
    name,
    (_, { signal }) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  );

test("a reply is claimed by the next claim while 10,000 bulk jobs of its lane are due and others hang", async () => {
  const bulk = recordHangingRuns("a.bulk");
  const replies = recordRuns("a.reply");
  const jobs = fixture.create([bulk.definition, replies.definition], { pollMs: 3_600_000 });
  await fixture.enqueue(jobs, ...bulkJobs(10_000));
  jobs.start();
  await expect.poll(() => bulk.runs).toHaveLength(4);
  for (let n = 0; n < 20; n += 1) {
    await fixture.enqueue(jobs, makeJob("a.reply", n, { lane }));
    await expect.poll(() => replies.runs).toHaveLength(n + 1);
  }
  expect(bulk.runs).toHaveLength(4);
});

test("hanging bulk jobs in a hundred lanes of an organization delay none of its replies", async () => {
  const bulk = recordHangingRuns("a.bulk");
  const replies = recordRuns("a.reply");
  const organization_id = "org_1";
  const jobs = fixture.create([bulk.definition, replies.definition], { pollMs: 3_600_000 });
  const hanging = Array.from({ length: 400 }, (_, n) =>
    makeBulk("a.bulk", n, { lane: `channel:${n % 100}`, organization_id }),
  );
  await fixture.enqueue(jobs, ...hanging);
  jobs.start();
  await expect.poll(() => bulk.runs.length).toBeGreaterThanOrEqual(3 * 16);
  const answers = Array.from({ length: 40 }, (_, n) =>
    makeJob("a.reply", n, { lane: `channel:${n}`, organization_id }),
  );
  await fixture.enqueue(jobs, ...answers);
  await expect.poll(() => replies.runs).toHaveLength(40);
});

test("hanging replies leave the bulk jobs of their lane their slots", async () => {
  const replies = recordHangingRuns("a.reply");
  const bulk = recordRuns("a.bulk");
  const jobs = fixture.create([bulk.definition, replies.definition], { pollMs: 3_600_000 });
  await fixture.enqueue(jobs, ...Array.from({ length: 50 }, (_, n) => makeJob("a.reply", n, { lane })));
  jobs.start();
  await expect.poll(() => replies.runs).toHaveLength(4);
  await fixture.enqueue(jobs, ...bulkJobs(100));
  await expect.poll(() => bulk.runs).toHaveLength(100);
});

test("hanging bulk jobs of one lane delay no bulk job of another lane", async () => {
  const hanging = recordHangingRuns("a.hang");
  const bulk = recordRuns("a.bulk");
  const jobs = fixture.create([hanging.definition, bulk.definition], { pollMs: 3_600_000 });
  await fixture.enqueue(jobs, ...bulkJobs(300, "a.hang"));
  jobs.start();
  await expect.poll(() => hanging.runs).toHaveLength(4);
  await fixture.enqueue(jobs, makeBulk("a.bulk", 1, { lane: "channel:ibx_2" }));
  await expect.poll(() => bulk.runs).toEqual([1]);
});

test("a reply to a conversation starts while a bulk job for the same conversation runs", async () => {
  const bulk = recordHangingRuns("a.bulk");
  const replies = recordRuns("a.reply");
  const jobs = fixture.create([bulk.definition, replies.definition]);
  jobs.start();
  await fixture.enqueue(jobs, makeBulk("a.bulk", "conv_1", { subject: "conv_1" }));
  await expect.poll(() => bulk.runs).toEqual(["conv_1"]);
  await fixture.enqueue(jobs, makeJob("a.reply", "conv_1", { lane, key: "conv_1", subject: "conv_1" }));
  await expect.poll(() => replies.runs).toEqual(["conv_1"]);
});

test("a bulk job with a key does not compile", () => {
  const type = { name: "a.bulk", payload: anyPayload as JobDefinition<object>["payload"] };
  // @ts-expect-error: a bulk job has no key
  newJob(type, {}, { priority: "bulk", key: "k" });
  // @ts-expect-error: nor is it deduplicated
  newJob(type, {}, { priority: "bulk", isDeduplicated: true });
});

test("all jobs of both priorities run, also those that they add", async () => {
  let jobs: RunningJobs;
  const reply = recordRuns("a.reply", async (payload) => {
    await fixture.enqueue(jobs, makeBulk("a.bulk", `bulk of ${payload}`));
    return undefined;
  });
  const bulk = recordRuns("a.bulk", async (payload) => {
    if (payload === "first") {
      await fixture.enqueue(jobs, makeJob("a.reply", "reply", { lane }));
    }
    return undefined;
  });
  jobs = fixture.create([reply.definition, bulk.definition]);
  await fixture.enqueue(jobs, makeBulk("a.bulk", "first"));
  expect(await jobs.runDue()).toBe(3);
  expect([reply.runs, bulk.runs]).toEqual([["reply"], ["first", "bulk of reply"]]);
  expect(await fixture.waiting()).toEqual([]);
});

test("a bulk job is retried, and dies in its own lane", async () => {
  const { runs, definition } = recordRuns("a.bulk", () => Promise.reject(new Error("no")), {
    maxAttempts: 2,
  });
  const jobs = fixture.create([definition]);
  await fixture.enqueue(jobs, makeBulk("a.bulk", 1));
  await jobs.runDue();
  fixture.advance(10_000);
  await jobs.runDue();
  expect(runs).toEqual([1, 1]);
  expect(await fixture.dead()).toMatchObject([{ lane: `~${lane}`, attempts: 2 }]);
});

test("the rows of an older version have normal priority", async () => {
  const { runs, definition } = recordRuns("a.b");
  const jobs = fixture.create([definition]);
  await fixture.enqueue(jobs, ...bulkJobs(3, "a.b"));
  const at = fixture.now().toISOString();
  await sql`
    insert into jobs (id, name, lane, key, organization_id, payload, run_at, subject, traceparent, created_at)
    values ('job_0', 'a.b', ${lane}, 'k', null, '"old"', ${at}, null, null, ${at})
  `.execute(fixture.database.queries);
  await jobs.runDue();
  expect(runs[0]).toBe("old");
  expect(runs).toHaveLength(4);
});

test("bulk jobs count in the gauges apart from the other jobs of their lane", async () => {
  const jobs = fixture.create([recordRuns("a.bulk").definition]);
  await fixture.enqueue(
    jobs,
    ...bulkJobs(5),
    makeJob("a.bulk", null, { lane }),
    makeBulk("a.bulk", 1, { lane: "other" }),
  );
  fixture.advance(60_000);
  const { lanes } = await readGauges(fixture.database.queries, fixture.now());
  expect(lanes).toEqual([
    { group: "channel", isBulk: false, due: 1, later: 0, oldestSeconds: 60 },
    { group: "channel", isBulk: true, due: 5, later: 0, oldestSeconds: 60 },
    { group: "other", isBulk: true, due: 1, later: 0, oldestSeconds: 60 },
  ]);
});

test("a lane that no priority would read is rejected", () => {
  expect(storedLane("channel:ibx_1", "bulk")).toBe("~channel:ibx_1");
  for (const name of ["", "~channel:ibx_1", "\u007f", "ü"]) {
    expect(() => storedLane(name, "normal")).toThrow(RangeError);
  }
});

test.skipIf(isPooled)(
  "claims of both priorities read no more rows with 20,000 due bulk jobs than with 10",
  async () => {
    const few = await readByClaims(10);
    const many = await readByClaims(20_000);
    expect([few.claimed, many.claimed]).toEqual([
      { normal: 1, bulk: 4 },
      { normal: 1, bulk: 4 },
    ]);
    expect(many.read.normal).toBe(few.read.normal);
    expect(many.read.bulk).toBeLessThanOrEqual(few.read.bulk);
  },
);

/** What claims of each priority read while a reply and this many bulk jobs of one lane are due. */
async function readByClaims(count: number) {
  const { queries } = fixture.database;
  const jobs = fixture.create([recordRuns("a.b").definition]);
  await sql`truncate jobs`.execute(queries);
  const at = fixture.now().toISOString();
  await sql`
    insert into jobs (id, name, lane, payload, run_at, created_at)
    select 'job_' || lpad(n::text, 26, '0'), 'a.b', ${`~${lane}`}, 'null', ${at}::timestamptz, ${at}::timestamptz
    from generate_series(1, ${count}::int) n
  `.execute(queries);
  await fixture.enqueue(jobs, makeJob("a.b", 1, { lane }));
  await sql`vacuum analyze jobs`.execute(queries);
  const normal = await claimOnce("normal");
  const bulk = await claimOnce("bulk");
  return {
    claimed: { normal: normal.claimed, bulk: bulk.claimed },
    read: { normal: normal.read, bulk: bulk.read },
  };
}

function claimOnce(priority: Priority) {
  const now = fixture.now();
  return fixture.database.transaction(
    async (tx) => {
      const before = await countReadRows(tx);
      const { jobs } = await claimJobs(tx, {
        now,
        priority,
        process: null,
        after: rangeOf(priority).after,
        limit: 48,
        perLane: 4,
        freeByLane: {},
        fullOrganizations: [],
        ids: [],
        keys: [],
        runWhileSuspended: [],
        leases: { "a.b": "2026-03-01T11:00:00Z" },
      });
      await nextDueAt(tx, priority, { now, isScheduled: true });
      return { claimed: jobs.length, read: (await countReadRows(tx)) - before };
    },
    { keepsPlans: true },
  );
}

/**
 * How many rows of the jobs this session has read, by indexes and scans, as it knows before it
 * reports its figures.
 */
async function countReadRows(tx: DatabaseTransaction): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) as count
    from pg_stat_xact_user_tables where relname = 'jobs'
  `.execute(tx);
  return rows[0]?.count ?? 0;
}
