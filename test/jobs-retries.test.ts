/**
 * Jobs that fail, that run again later, and that have a schedule.
 *
 * @module-tag both
 */
import { sql } from "kysely";
import { expect, test } from "vitest";
import { z } from "zod";
import { type JobDefinition, newJob } from "../src/jobs/job.ts";
import { backoffMs } from "../src/jobs/worker/backoff.ts";
import { makeJob, recordRuns, useJobsFixture } from "./support/jobs-fixture.ts";
import { meanwhile } from "./support/meanwhile.ts";

const minute = 60_000;
const fixture = useJobsFixture();

test("a failed job is retried with backoff, and moves to the dead-letter queue after its last attempt", async () => {
  const numbers: [number, boolean][] = [];
  const exhausted: unknown[] = [];
  const { definition } = recordRuns(
    "a.b",
    async (_, { number, isLast }) => {
      numbers.push([number, isLast]);
      throw new Error(`attempt ${number}\0`);
    },
    { maxAttempts: 3, exhausted: async (payload, error) => void exhausted.push(payload, error) },
  );
  const jobs = fixture.create([definition]);
  await fixture.enqueue(jobs, makeJob("a.b", { n: 1 }, { organization_id: "org_1", key: "k" }));
  await jobs.runDue();
  fixture.advance(700);
  expect(await jobs.runDue()).toBe(0);
  for (const ms of [500, 2_400]) {
    fixture.advance(ms);
    expect(await jobs.runDue()).toBe(1);
  }
  expect(numbers).toEqual([
    [1, false],
    [2, false],
    [3, true],
  ]);
  expect(exhausted).toEqual([{ n: 1 }, new Error("attempt 3\0")]);
  expect(await fixture.waiting()).toEqual([]);
  const [dead] = await fixture.dead();
  expect(dead).toMatchObject({
    name: "a.b",
    payload: { n: 1 },
    organization_id: "org_1",
    attempts: 3,
    error: "attempt 3",
  });
});

test("exhausted runs before the job moves to the dead-letter queue, and again if it throws", async () => {
  let calls = 0;
  const { runs, definition } = recordRuns("a.b", () => Promise.reject(new Error("no")), {
    maxAttempts: 1,
    async exhausted() {
      calls += 1;
      if (calls === 1) {
        throw new Error("exhausted failed");
      }
    },
  });
  const jobs = fixture.create([definition]);
  await fixture.enqueue(jobs, makeJob("a.b"));
  await jobs.runDue();
  expect(await fixture.dead()).toEqual([]);
  fixture.advance(minute);
  await jobs.runDue();
  expect([runs.length, calls]).toEqual([1, 2]);
  expect(await fixture.dead()).toHaveLength(1);
});

test("a job that kills its process at every attempt moves to the dead-letter queue", async () => {
  const { runs, definition } = recordRuns("a.b", undefined, { maxAttempts: 2 });
  const jobs = fixture.create([definition]);
  await fixture.enqueue(jobs, makeJob("a.b"));
  await sql`update jobs set attempts = 2`.execute(fixture.database.queries);
  await jobs.runDue();
  expect(runs).toEqual([]);
  expect((await fixture.dead())[0]?.error).toContain("process died");
});

test("a job whose payload has another form does not run, and moves to the dead-letter queue", async () => {
  const runs: unknown[] = [];
  const definition: JobDefinition<{ n: number }> = {
    name: "a.b",
    payload: z.object({ n: z.number() }),
    maxAttempts: 2,
    async run(payload) {
      runs.push(payload);
      return undefined;
    },
    async exhausted(payload) {
      runs.push(payload);
    },
  };
  const jobs = fixture.create([definition]);
  await fixture.enqueue(
    jobs,
    makeJob("a.b", { n: "1" }),
    makeJob("a.b", { n: 2, added: "by a later version" }),
  );
  await jobs.runDue();
  expect(runs).toEqual([{ n: 2 }]);
  // It waits for its retry: a process of another version may know the form.
  expect(await fixture.waiting()).toHaveLength(1);
  fixture.advance(minute);
  await jobs.runDue();
  expect(runs).toEqual([{ n: 2 }]);
  expect((await fixture.dead())[0]?.error).toContain("does not have the form");
});

test("a payload must be that of the job", async () => {
  const type = { name: "a.b", payload: z.object({ organization_id: z.string(), n: z.number() }) };
  const { runs, definition } = recordRuns("a.b");
  const jobs = fixture.create([definition]);
  await fixture.database.transaction(async (tx) => {
    await jobs.enqueue(tx, [newJob(type, { organization_id: "org_1", n: 1 })]);
    // @ts-expect-error a member is missing
    await jobs.enqueue(tx, [newJob(type, { organization_id: "org_1" })]);
    // @ts-expect-error a member has another type
    await jobs.enqueue(tx, [newJob(type, { organization_id: "org_1", n: "1" })]);
    // @ts-expect-error a job has a type, not only a name
    await expect(jobs.enqueue(tx, [newJob("a.b", { organization_id: "org_1", n: 1 })])).rejects.toThrow(
      "No definition",
    );
  });
  await jobs.runDue();
  expect(runs).toHaveLength(3);
});

test("a run that returns runAgainAt is not counted as an attempt", async () => {
  const numbers: number[] = [];
  const { definition } = recordRuns(
    "a.b",
    async (_, { number }) => {
      numbers.push(number);
      return numbers.length < 4 ? { runAgainAt: new Date(fixture.now().getTime() + minute) } : undefined;
    },
    { maxAttempts: 2 },
  );
  const jobs = fixture.create([definition]);
  await fixture.enqueue(jobs, makeJob("a.b"));
  for (let n = 0; n < 4; n += 1) {
    await jobs.runDue();
    fixture.advance(minute);
  }
  expect(numbers).toEqual([1, 1, 1, 1]);
  expect(await fixture.waiting()).toEqual([]);
});

test("a resumed lane runs the jobs that wait until that time, and none that runs with a lease until then", async () => {
  const until = new Date(fixture.now().getTime() + minute);
  const { runs, definition } = recordRuns(
    "a.b",
    async (payload) => {
      if (payload === "waits") {
        return undefined;
      }
      await fixture.database.transaction((tx) => jobs.resume(tx, "lane", until));
      // Another process takes the one that waited.
      expect(await other.runDue()).toBe(1);
      return undefined;
    },
    { leaseMs: minute },
  );
  const other = fixture.create([definition], { processes: fixture.createProcess() });
  const jobs = fixture.create([definition], { processes: fixture.createProcess() });
  const later = new Date(until.getTime() - 1);
  await fixture.enqueue(
    jobs,
    makeJob("a.b", "waits", { lane: "lane", runAt: until }),
    makeJob("a.b", "waits for another time", { lane: "lane", runAt: later }),
    makeJob("a.b", "runs", { lane: "lane" }),
  );
  await jobs.runDue();
  expect(runs).toEqual(["runs", "waits"]);
});

test.each([Number.NaN, 8.64e15])("an invalid runAgainAt (%s) fails its own job and no other", async (ms) => {
  const { definition } = recordRuns("a.b", async () => ({ runAgainAt: new Date(ms) }), { maxAttempts: 1 });
  const other = recordRuns("c.d");
  const jobs = fixture.create([definition, other.definition]);
  await fixture.enqueue(jobs, makeJob("a.b"), makeJob("c.d"));
  await jobs.runDue();
  expect(await fixture.waiting()).toEqual([]);
  expect(await fixture.dead()).toHaveLength(1);
});

test("a schedule runs once at each of its times across all instances, and once for all missed times", async () => {
  const { runs, definition } = recordRuns("a.tick", undefined, { schedule: "*/5 * * * *" });
  const instances = [fixture.create([definition]), fixture.create([definition])];
  const tick = async () => {
    await Promise.all(instances.map((jobs) => jobs.runDue()));
    return runs.length;
  };
  expect(await tick()).toBe(0);
  expect(await fixture.waiting()).toHaveLength(1);
  for (const [ms, count] of [
    [4 * minute, 0],
    [minute, 1],
    [minute, 1],
    [4 * minute, 2],
    [60 * minute, 3],
    [5 * minute, 4],
  ] as const) {
    fixture.advance(ms);
    expect(await tick()).toBe(count);
  }
  expect((await fixture.waiting())[0]).toMatchObject({ attempts: 0, run_at: "2026-03-01T11:20:00.000Z" });
});

test("a scheduled job that fails is retried before its next run, and stays scheduled after its last attempt", async () => {
  const numbers: number[] = [];
  const { definition } = recordRuns(
    "a.tick",
    async (_, { number }) => {
      numbers.push(number);
      throw new Error("no");
    },
    { schedule: "0 * * * *", maxAttempts: 2 },
  );
  const jobs = fixture.create([definition]);
  await jobs.runDue();
  for (const ms of [60 * minute, minute, minute, 58 * minute]) {
    fixture.advance(ms);
    await jobs.runDue();
  }
  expect(numbers).toEqual([1, 2, 1]);
  expect(await fixture.dead()).toEqual([]);
});

test("the retry of a scheduled job is never later than its next run", async () => {
  const { definition } = recordRuns("a.tick", () => Promise.reject(new Error("no")), {
    schedule: "* * * * *",
    maxAttempts: 20,
  });
  const jobs = fixture.create([definition]);
  await jobs.runDue();
  await sql`update jobs set attempts = 9`.execute(fixture.database.queries);
  fixture.advance(minute);
  await jobs.runDue();
  expect((await fixture.waiting())[0]).toMatchObject({ attempts: 10, run_at: "2026-03-01T10:02:00.000Z" });
});

test("an instance that starts while a scheduled job runs does not run it too", async () => {
  const running: (() => void)[] = [];
  const { definition } = recordRuns(
    "a.tick",
    () => new Promise((end) => running.push(() => end(undefined))),
    {
      schedule: "* * * * *",
      leaseMs: 10 * minute,
    },
  );
  const [first, second] = [fixture.create([definition]), fixture.create([definition])];
  await first.runDue();
  fixture.advance(minute);
  await meanwhile(first.runDue(), async () => {
    await expect.poll(() => running).toHaveLength(1);
    expect(await second.runDue()).toBe(0);
    fixture.advance(minute);
    expect(await second.runDue()).toBe(0);
    running[0]?.();
  });
  expect(running).toHaveLength(1);
});

test("the backoff doubles from 1 s to 1 h with 20 % jitter", () => {
  const middle = (attempt: number) => backoffMs(attempt, () => 0.5);
  expect([1, 2, 3, 10, 12, 13, 1_000].map(middle)).toEqual([
    1_000, 2_000, 4_000, 512_000, 2_048_000, 3_600_000, 3_600_000,
  ]);
  expect([backoffMs(1, () => 0), backoffMs(1, () => 1)]).toEqual([800, 1_200]);
});
