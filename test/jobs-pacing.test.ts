/** The rate of a lane: never more starts in a second, in all processes of a database together. */
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import type { NewJob, Priority } from "../src/jobs/job.ts";
import type { RunningJobs } from "../src/jobs/jobs.ts";
import { backoffMs } from "../src/jobs/worker/backoff.ts";
import type { Poller } from "../src/jobs/worker/poller.ts";
import { makeJob, recordRuns, useJobsFixture } from "./support/jobs-fixture.ts";

const lane = "channel:ibx_1";
/** A start counts this long against the rate. */
const windowMs = 1_100;
const fixture = useJobsFixture();

const makeBulk = (payload: unknown, rest: Partial<NewJob> = {}) =>
  makeJob("a.b", payload, { lane, ...rest, priority: "bulk" } as Partial<NewJob>); // without a key
const makeMany = (count: number, make: (n: number) => NewJob) =>
  Array.from({ length: count }, (_, n) => make(n));
const replies = (count: number) => makeMany(count, (n) => makeJob("a.b", n, { lane }));

/** Jobs with a rate for the lane, and what they run. */
async function createPaced(rate: number | null, added: readonly NewJob[] = []) {
  const { runs, definition } = recordRuns("a.b");
  const jobs = fixture.create([definition]);
  const pace = (newRate: number | null, of = lane) =>
    fixture.database.transaction((tx) => jobs.pace(tx, of, newRate));
  await pace(rate);
  await fixture.enqueue(jobs, ...added);
  return { jobs, runs, pace, definition };
}

/** Runs what is due every 100 ms, and returns how many jobs started each time. */
async function runEachTenth(jobs: RunningJobs, count: number): Promise<readonly number[]> {
  const started: number[] = [];
  for (let tenth = 0; tenth < count; tenth += 1) {
    started.push(await jobs.runDue());
    fixture.advance(100);
  }
  return started;
}

describe("a lane with a rate", () => {
  test("starts no more jobs in a second, and as many in the next", async () => {
    // Jobs that are due at the same time start in any order.
    const dueAt = (n: number) => new Date(fixture.now().getTime() - 300 + n);
    const added = makeMany(300, (n) => makeJob("a.b", n, { lane, runAt: dueAt(n) }));
    const { jobs, runs } = await createPaced(80, added);
    const [first, second] = [await runEachTenth(jobs, 11), await runEachTenth(jobs, 11)];
    expect(first).toEqual([12, 12, 12, 12, 12, 12, 8, 0, 0, 0, 0]);
    expect(second).toEqual(first);
    expect(runs).toEqual(Array.from({ length: 160 }, (_, n) => n));
  });

  test("counts a start for a second, and a margin, whenever the second begins", async () => {
    const { jobs } = await createPaced(10, replies(3));
    expect(await jobs.runDue()).toBe(3);
    fixture.advance(700);
    await fixture.enqueue(jobs, ...replies(20));
    // 300 ms later.
    expect(await runEachTenth(jobs, 3)).toEqual([3, 3, 1]);
    fixture.advance(windowMs - 1_000 - 1);
    expect(await jobs.runDue()).toBe(0);
    fixture.advance(1);
    expect(await jobs.runDue()).toBe(3);
  });

  test("delays no other lane, and lanes without a rate have none", { tags: "both" }, async () => {
    const { jobs } = await createPaced(1, replies(500));
    const others = makeMany(200, (n) => makeJob("a.b", n, { lane: `channel:ibx_${2 + (n % 2)}` }));
    await fixture.enqueue(jobs, ...others);
    expect(await jobs.runDue()).toBe(1 + 200);
  });

  test("counts attempts that repeat a job", async () => {
    const { runs, definition } = recordRuns("a.b", () => Promise.reject(new Error("no")));
    const jobs = fixture.create([definition]);
    await fixture.database.transaction((tx) => jobs.pace(tx, lane, 1));
    await fixture.enqueue(jobs, ...replies(2));
    for (let second = 0; second < 4; second += 1) {
      await jobs.runDue();
      fixture.advance(
        Math.max(
          windowMs,
          backoffMs(4, () => 1),
        ),
      );
    }
    expect(runs).toHaveLength(4);
  });

  test("keeps its starts when the rate changes, and starts all jobs without one", {
    tags: "both",
  }, async () => {
    const { jobs, pace } = await createPaced(10, replies(300));
    expect(await runEachTenth(jobs, 5)).toEqual([3, 3, 3, 1, 0]);
    await pace(15);
    expect(await runEachTenth(jobs, 3)).toEqual([3, 2, 0]);
    await pace(4);
    fixture.advance(windowMs);
    expect(await runEachTenth(jobs, 4)).toEqual([2, 2, 0, 0]);
    await pace(null);
    expect(await jobs.runDue()).toBe(300 - 19);
  });

  test("has a whole number of jobs a second, set in a transaction that commits", async () => {
    const { jobs, pace } = await createPaced(null, replies(30));
    for (const rate of [0, -1, 0.5, Number.NaN]) {
      await expect(pace(rate)).rejects.toThrow(RangeError);
    }
    await expect(pace(5, "")).rejects.toThrow(RangeError);
    const rolledBack = fixture.database.transaction(async (tx) => {
      await jobs.pace(tx, lane, 5);
      throw new Error("no");
    });
    await expect(rolledBack).rejects.toThrow("no");
    expect(await jobs.runDue()).toBe(30);
  });

  test("counts the starts of a process whose clock is ahead", async () => {
    const { jobs, definition } = await createPaced(10, replies(40));
    const behind = fixture.create([definition], { now: () => new Date(fixture.now().getTime() - 500) });
    await sql`update jobs set run_at = run_at - interval '1 minute'`.execute(fixture.database.queries);
    expect(await runEachTenth(jobs, 4)).toEqual([3, 3, 3, 1]);
    expect(await behind.runDue()).toBe(0);
    fixture.advance(windowMs + 500 - 100);
    expect(await runEachTenth(behind, 4)).toEqual([3, 3, 3, 1]);
  });

  test("continues within seconds after a clock was set back", async () => {
    const { jobs } = await createPaced(10, replies(40));
    await jobs.runDue();
    fixture.advance(-3_600_000);
    await sql`update jobs set run_at = ${fixture.now().toISOString()}`.execute(fixture.database.queries);
    expect(await runEachTenth(jobs, 11)).toEqual([3, 3, 3, 1, 0, 0, 0, 0, 0, 0, 0]);
    expect(await jobs.runDue()).toBe(3);
  });
});

describe("the bulk jobs of a lane with a rate", () => {
  test("are spread over the second, and leave a fortieth of the rate to replies", {
    tags: "both",
  }, async () => {
    const { jobs, runs } = await createPaced(
      80,
      makeMany(500, (n) => makeBulk(`bulk ${n}`)),
    );
    expect(await runEachTenth(jobs, 12)).toEqual([10, 10, 10, 10, 10, 10, 10, 8, 0, 0, 0, 10]);
    await fixture.enqueue(jobs, ...replies(3));
    // Two from the reserve, and one from the room that bulk jobs have left in this tenth.
    await jobs.runDue();
    expect(runs.filter((one) => typeof one === "number")).toEqual([0, 1, 2]);
  });

  test("leave the reserve to a reply that arrives while they have used their part", async () => {
    const { jobs, runs } = await createPaced(
      80,
      makeMany(500, (n) => makeBulk(`bulk ${n}`)),
    );
    await runEachTenth(jobs, 9);
    await fixture.enqueue(jobs, ...replies(3));
    expect(await jobs.runDue()).toBe(2);
    expect(runs.slice(-2)).toEqual([0, 1]);
    fixture.advance(windowMs - 900);
    await jobs.runDue();
    expect(runs[80]).toBe(2);
  });

  test("take only what due replies leave, also those that another process will claim", async () => {
    const { jobs, runs } = await createPaced(
      80,
      makeMany(100, (n) => makeBulk(n)),
    );
    const ofOther = makeMany(75, (n) => makeJob("a.newer", n, { lane }));
    const other = fixture.create([recordRuns("a.newer").definition]);
    await fixture.enqueue(other, ...ofOther);
    expect(await jobs.runDue()).toBe(5);
    expect(await other.runDue()).toBe(7);
    fixture.advance(100);
    expect(await jobs.runDue()).toBe(0);
    expect(await runEachTenth(other, 7)).toEqual([12, 12, 12, 12, 12, 8, 0]);
    fixture.advance(windowMs);
    expect(await jobs.runDue()).toBe(10);
    expect(runs).toHaveLength(15);
  });

  test("reach a rate of one a second", { tags: "both" }, async () => {
    const { jobs } = await createPaced(
      1,
      makeMany(5, (n) => makeBulk(n)),
    );
    for (let second = 0; second < 5; second += 1) {
      expect(await jobs.runDue()).toBe(1);
      fixture.advance(windowMs);
    }
  });
});

describe("a worker", () => {
  test.each([
    ["normal", 12, 100],
    ["bulk", 10, 100],
  ] as const)(
    "polls again when the rate allows the next %s job, not before",
    { tags: "both" },
    async (priority, started, waitMs) => {
      await createPaced(
        80,
        makeMany(300, (n) => (priority === "bulk" ? makeBulk(n) : makeJob("a.b", n, { lane }))),
      );
      const { poller, runs } = createPoller(priority);
      await pollUntilDrained(poller);
      expect(runs).toHaveLength(started);
      expect((await poller.poll({ canClaim: true })).waitMs).toBe(waitMs);
      fixture.advance(60);
      expect((await poller.poll({ canClaim: true })).waitMs).toBe(waitMs - 60);
      fixture.advance(waitMs - 60);
      await pollUntilDrained(poller);
      expect(runs).toHaveLength(2 * started);
    },
  );

  test("does not poll for the rate of a lane whose jobs can't start for another reason", {
    tags: "both",
  }, async () => {
    const { jobs } = await createPaced(80);
    const newer = fixture.create([recordRuns("a.newer").definition]);
    await fixture.enqueue(newer, ...makeMany(100, (n) => makeJob("a.newer", n, { lane })));
    await jobs.runDue();
    const { poller } = createPoller("normal");
    expect((await poller.poll({ canClaim: true })).waitMs).toBe(pollMs);
  });
});

const pollMs = 3_600_000;

/** The poller of a worker that is not started. */
function createPoller(priority: Priority) {
  const { runs, definition } = recordRuns("a.b");
  return { poller: fixture.createPoller(definition, { priority, pollMs }), runs };
}

async function pollUntilDrained(poller: Poller): Promise<void> {
  let claimed = 1;
  while (claimed > 0 || !poller.isIdle) {
    ({ claimed } = await poller.poll({ canClaim: true }));
  }
}
