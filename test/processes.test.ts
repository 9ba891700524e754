/**
 * The table of processes: jobs of a process that died are taken over in seconds, those of a live one never.
 */
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import type { Database } from "../src/database/database.ts";
import type { Attempt, JobDefinition } from "../src/jobs/job.ts";
import type { Processes } from "../src/jobs/processes/index.ts";
import { SharedClock } from "../src/time/shared-clock.ts";
import { anyPayload, makeJob, recordRuns, useJobsFixture } from "./support/jobs-fixture.ts";
import { meanwhile } from "./support/meanwhile.ts";

const second = 1_000;
const fixture = useJobsFixture();

/** A job whose attempts run until the test ends them. */
function createHangingJob() {
  const attempts: Attempt[] = [];
  const ends: (() => void)[] = [];
  const definition: JobDefinition = {
    name: "a.b",
    payload: anyPayload,
    leaseMs: 30 * second,
    async run(_, attempt) {
      attempts.push(attempt);
      await new Promise<void>((resolve) => ends.push(resolve));
      return undefined;
    },
  };
  return { attempts, ends, definition };
}

type HangingJob = ReturnType<typeof createHangingJob>;

/** A worker with a heartbeat, and the run in which it claims the job that was added. */
async function claimInProcess({ definition, attempts }: HangingJob) {
  const processes = fixture.createProcess();
  const jobs = fixture.create([definition], { processes });
  await fixture.enqueue(jobs, makeJob("a.b"));
  const run = jobs.runDue();
  // The test awaits it later.
  run.catch(() => undefined);
  await expect.poll(() => attempts).toHaveLength(1);
  return { processes, jobs, run };
}

/** Another worker with a heartbeat. */
function createSecond({ definition }: HangingJob) {
  const processes = fixture.createProcess();
  return { processes, jobs: fixture.create([definition], { processes }) };
}

/** Advances the clock second by second, with a heartbeat of each of these processes in each. */
async function beatFor(seconds: number, ...beating: readonly Processes[]): Promise<void> {
  for (let elapsed = 0; elapsed < seconds; elapsed += 1) {
    fixture.advance(second);
    for (const processes of beating) {
      await processes.beat();
    }
  }
}

const processIds = async () =>
  (await fixture.database.queries.selectFrom("processes").select("id").orderBy("id").execute()).map(
    ({ id }) => id,
  );
const isDue = async () => Date.parse((await fixture.waiting())[0]?.run_at ?? "") <= fixture.now().getTime();

/** Ends the attempts one by one, with the run of each. */
async function endRuns({ ends }: HangingJob, ...runs: readonly Promise<unknown>[]): Promise<void> {
  for (const end of ends) {
    end();
  }
  await Promise.all(runs);
}

describe("the jobs of a process", () => {
  test("that died are run by another one within five seconds", async () => {
    const job = createHangingJob();
    const killed = await claimInProcess(job);
    const other = createSecond(job);
    await other.processes.beat();
    await beatFor(3, other.processes);
    expect(await isDue()).toBe(false);
    await beatFor(1, other.processes);
    expect(await isDue()).toBe(true);
    expect(await processIds()).toEqual([other.processes.id]);

    const run = other.jobs.runDue();
    await expect.poll(() => job.attempts).toHaveLength(2);
    expect(job.attempts.map(({ number, isTakeover }) => [number, isTakeover])).toEqual([
      [1, false],
      [2, true],
    ]);
    const [row] = await fixture.waiting();
    expect(row).toMatchObject({ claims: 2, claimed_by: other.processes.id });
    await endRuns(job, killed.run, run);
    expect(await fixture.waiting()).toEqual([]);
    expect(fixture.logged).toEqual(["A process died; the jobs that it had claimed are due again"]);
  });

  test("whose event loop was blocked for two seconds are left to it", { tags: "both" }, async () => {
    const job = createHangingJob();
    const blocked = await claimInProcess(job);
    const other = createSecond(job);
    for (let times = 0; times < 5; times += 1) {
      // One second until its next heartbeat, which is two seconds late.
      await beatFor(3, other.processes);
      await blocked.processes.beat();
    }
    expect(await isDue()).toBe(false);
    await endRuns(job, blocked.run);
  });

  test("that was blocked for longer are not changed by it any more, and it is seen again", async () => {
    const failing = createHangingJob();
    const { definition } = failing;
    const throwing: JobDefinition = {
      ...definition,
      async run(payload, attempt) {
        await definition.run(payload, attempt);
        throw new Error("no");
      },
    };
    const blocked = await claimInProcess({ ...failing, definition: throwing });
    const other = createSecond(failing);
    await other.processes.beat();
    await beatFor(5, other.processes);
    await meanwhile(other.jobs.runDue(), async () => {
      await expect.poll(() => failing.attempts).toHaveLength(2);
      const before = await fixture.waiting();
      failing.ends[0]?.();
      await blocked.run;
      await blocked.processes.beat();
      expect(await fixture.waiting()).toEqual(before);
      expect(await processIds()).toEqual([blocked.processes.id, other.processes.id].sort());
      failing.ends[1]?.();
    });
  });

  test("are left to it after an outage of the database, in which no heartbeat was written", {
    tags: "both",
  }, async () => {
    const job = createHangingJob();
    const alive = await claimInProcess(job);
    const other = createSecond(job);
    await beatFor(2, alive.processes, other.processes);
    fixture.advance(20 * second);
    await beatFor(2, other.processes);
    await alive.processes.beat();
    await beatFor(3, other.processes);
    expect(await processIds()).toHaveLength(2);
    await endRuns(job, alive.run);
  });

  test("whose clock is behind are left to it", { tags: "both" }, async () => {
    const job = createHangingJob();
    const slow = fixture.createProcess({ now: () => new Date(fixture.now().getTime() - 60 * second) });
    const jobs = fixture.create([job.definition], { processes: slow });
    await fixture.enqueue(jobs, makeJob("a.b"));
    const run = jobs.runDue();
    await expect.poll(() => job.attempts).toHaveLength(1);
    const other = createSecond(job);
    await beatFor(8, slow, other.processes);
    expect(await processIds()).toHaveLength(2);
    await endRuns(job, run);
  });
});

describe("the death of a process", () => {
  test("leaves a job alone that it had rescheduled", async () => {
    const runAgainAt = new Date(fixture.now().getTime() + 60 * second);
    const definition: JobDefinition = {
      name: "a.b",
      payload: anyPayload,
      run: async () => ({ runAgainAt }),
    };
    const killed = fixture.createProcess();
    const jobs = fixture.create([definition], { processes: killed });
    await fixture.enqueue(jobs, makeJob("a.b"));
    await jobs.runDue();
    const other = fixture.createProcess();
    await beatFor(6, other);
    expect(await processIds()).toEqual([other.id]);
    expect(await fixture.waiting()).toMatchObject([{ run_at: runAgainAt.toISOString(), claimed_by: null }]);
  });

  test("leaves a job its lease that a process without heartbeats has claimed since, as older versions do", async () => {
    const job = createHangingJob();
    const killed = await claimInProcess(job);
    const other = createSecond(job);
    const leaseEnd = new Date(fixture.now().getTime() + 60 * second).toISOString();
    await sql`update jobs set claims = claims + 1, run_at = ${leaseEnd}`.execute(fixture.database.queries);
    await beatFor(6, other.processes);
    expect(await processIds()).toEqual([other.processes.id]);
    expect(await fixture.waiting()).toMatchObject([{ run_at: leaseEnd }]);
    await endRuns(job, killed.run);
  });

  test("is not assumed of a process without heartbeats: its jobs keep their lease", async () => {
    const job = createHangingJob();
    const old = fixture.create([job.definition]);
    await fixture.enqueue(old, makeJob("a.b"));
    const run = old.runDue();
    await expect.poll(() => job.attempts).toHaveLength(1);
    const other = createSecond(job);
    await beatFor(10, other.processes);
    expect(await isDue()).toBe(false);
    fixture.advance(20 * second);
    expect(await isDue()).toBe(true);
    await endRuns(job, run);
  });
});

test("a process that stops leaves the table, unless it left jobs unfinished", async () => {
  const job = createHangingJob();
  const finished = createSecond(job);
  await finished.jobs.runDue();
  const unfinished = await claimInProcess(job);
  expect(await processIds()).toHaveLength(2);
  await finished.jobs.stop(0);
  await unfinished.jobs.stop(0);
  expect(await processIds()).toEqual([unfinished.processes.id]);
  await endRuns(job, unfinished.run);
});

test("the only process of a database takes over all jobs at its start, and writes no heartbeats", async () => {
  const job = createHangingJob();
  const killed = await claimInProcess(job);
  const statements: string[] = [];
  const only = fixture.createProcess({ isAlone: true, database: recordStatements(statements) });
  const jobs = fixture.create([job.definition], { processes: only });
  const run = jobs.runDue();
  await expect.poll(() => job.attempts).toHaveLength(2);
  expect(await processIds()).toEqual([only.id]);
  const before = statements.length;
  await beatFor(5, only);
  expect(statements.length).toBe(before);
  await endRuns(job, killed.run, run);
});

describe("the use of a rate limit", () => {
  test("is reported to every other process once", async () => {
    const [one, other] = [fixture.createProcess(), fixture.createProcess()];
    const reports: [string, number][] = [];
    other.sharedUse.onOthers((id, points) => reports.push([id, points]));
    one.sharedUse.add("key_0", 9);
    await beatFor(2, one, other);
    expect(reports).toEqual([]);
    one.sharedUse.add("key_1", 3);
    one.sharedUse.add("key_2", 1);
    await beatFor(3, one, other);
    one.sharedUse.add("key_1", 2);
    await beatFor(3, one, other);
    expect(reports).toEqual([
      ["key_1", 3],
      ["key_2", 1],
      ["key_1", 2],
    ]);
  });

  test("is not written while there is none", async () => {
    const one = fixture.createProcess();
    const written = async () =>
      (await fixture.database.queries.selectFrom("processes").select("use").execute()).map(({ use }) => use);
    one.sharedUse.add("key_1", 3);
    await one.beat();
    expect(await written()).toEqual([{ key_1: 3 }]);
    await beatFor(6, one);
    expect(await written()).toEqual([{}]);
    one.sharedUse.add("key_1", 1);
    await one.beat();
    expect(await written()).toEqual([{ key_1: 1 }]);
  });

  test("costs one statement a second", async () => {
    const statements: string[] = [];
    const one = fixture.createProcess({ database: recordStatements(statements) });
    await fixture.createProcess().beat();
    for (let credential = 0; credential < 50; credential += 1) {
      one.sharedUse.add(`key_${credential}`, 1);
    }
    await beatFor(3, one);
    expect(statements).toHaveLength(3);
  });
});

/** The fixture's database, with a list of the statements outside transactions. */
function recordStatements(statements: string[]): Database {
  const { queries } = fixture.database;
  const recording = queries.withPlugin({
    transformQuery({ node }) {
      statements.push(node.kind);
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  return { ...fixture.database, queries: recording };
}

describe("a process that can't compare its clock with the others'", () => {
  test("claims no job until its next heartbeat", async () => {
    let frozenMs = 0;
    const clock = new SharedClock({
      monotonicMs: () => performance.now() + frozenMs,
      wallMs: () => Date.now() + frozenMs,
    });
    const processes = fixture.createProcess({ clock, now: clock.now });
    const { runs, definition } = recordRuns("a.b");
    const poller = fixture.createPoller(definition, { processes, now: clock.now });
    await fixture.enqueue(fixture.create([definition]), makeJob("a.b"));
    await processes.beat();
    frozenMs += 16 * second;
    expect(await poller.poll({ canClaim: true })).toMatchObject({ claimed: 0, isDrained: false });
    await processes.beat();
    expect(await poller.poll({ canClaim: true })).toMatchObject({ claimed: 1 });
    await expect.poll(() => runs).toHaveLength(1);
    await poller.poll({ canClaim: false });
  });

  test("has a warning when its machine's clock is wrong, and the database's time", async () => {
    const wrongByMs = 35 * second;
    const clock = new SharedClock({
      monotonicMs: () => performance.now(),
      wallMs: () => Date.now() + wrongByMs,
    });
    const processes = fixture.createProcess({ clock, now: clock.now });
    await processes.beat();
    expect(fixture.logged).toEqual(["The clock of this machine differs from the database's, which is used"]);
    const { rows } = await sql<{ readonly time: string }>`select clock_timestamp() as time`.execute(
      fixture.database.queries,
    );
    expect(Math.abs(Date.parse(rows[0]?.time ?? "") - clock.now().getTime())).toBeLessThan(10 * second);
  });
});
