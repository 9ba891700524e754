/** The job engine: jobs that fail, that ask for another time, and that come by the clock. */
import { sql } from "kysely";
import { expect, test, vi } from "vitest";
import { backoff } from "../src/jobs/backoff.ts";
import { job, noting, useLab } from "./support/job-lab.ts";

const minute = 60_000;
const lab = useLab();

test("a job that fails is tried again after a while, and after the last attempt is laid with the dead", async () => {
  const numbers: [number, boolean][] = [];
  const told: unknown[] = [];
  const { definition } = noting(
    "a.b",
    async (_, { number, isLast }) => {
      numbers.push([number, isLast]);
      throw new Error(`attempt ${number}\0`);
    },
    { maxAttempts: 3, exhausted: async (payload, error) => void told.push(payload, error) },
  );
  const jobs = lab.create([definition]);
  await lab.enqueue(jobs, job("a.b", { n: 1 }, { organization_id: "org_1", key: "k" }));
  await jobs.runDue();
  lab.turn(700);
  expect(await jobs.runDue()).toBe(0);
  for (const ms of [500, 2_400]) {
    lab.turn(ms);
    expect(await jobs.runDue()).toBe(1);
  }
  expect(numbers).toEqual([
    [1, false],
    [2, false],
    [3, true],
  ]);
  expect(told).toEqual([{ n: 1 }, new Error("attempt 3\0")]);
  expect(await lab.waiting()).toEqual([]);
  const [dead] = await lab.dead();
  expect(dead).toMatchObject({
    name: "a.b",
    payload: { n: 1 },
    organization_id: "org_1",
    attempts: 3,
    error: "attempt 3",
  });
});

test("the dead are told of before they are buried: if that fails, it is tried again", async () => {
  let calls = 0;
  const { seen, definition } = noting("a.b", () => Promise.reject(new Error("no")), {
    maxAttempts: 1,
    async exhausted() {
      calls += 1;
      if (calls === 1) {
        throw new Error("can't tell");
      }
    },
  });
  const jobs = lab.create([definition]);
  await lab.enqueue(jobs, job("a.b"));
  await jobs.runDue();
  expect(await lab.dead()).toEqual([]);
  lab.turn(minute);
  await jobs.runDue();
  expect([seen.length, calls]).toEqual([1, 2]);
  expect(await lab.dead()).toHaveLength(1);
});

test("a job that kills its process at every attempt ends with the dead, not in the next process", async () => {
  const { seen, definition } = noting("a.b", undefined, { maxAttempts: 2 });
  const jobs = lab.create([definition]);
  await lab.enqueue(jobs, job("a.b"));
  await sql`update jobs set attempts = 2`.execute(lab.database.queries);
  await jobs.runDue();
  expect(seen).toEqual([]);
  expect((await lab.dead())[0]?.error).toContain("process died");
});

test("a run may ask for another time, as often as it likes, without losing an attempt", async () => {
  const numbers: number[] = [];
  const { definition } = noting(
    "a.b",
    async (_, { number }) => {
      numbers.push(number);
      return numbers.length < 4 ? { againAt: new Date(lab.now().getTime() + minute) } : undefined;
    },
    { maxAttempts: 2 },
  );
  const jobs = lab.create([definition]);
  await lab.enqueue(jobs, job("a.b"));
  for (let n = 0; n < 4; n += 1) {
    await jobs.runDue();
    lab.turn(minute);
  }
  expect(numbers).toEqual([1, 1, 1, 1]);
  expect(await lab.waiting()).toEqual([]);
});

test.each([Number.NaN, 8.64e15])("an impossible time (%s) fails its own job and no other", async (ms) => {
  const { definition } = noting("a.b", async () => ({ againAt: new Date(ms) }), { maxAttempts: 1 });
  const other = noting("c.d");
  const jobs = lab.create([definition, other.definition]);
  await lab.enqueue(jobs, job("a.b"), job("c.d"));
  await jobs.runDue();
  expect(await lab.waiting()).toEqual([]);
  expect(await lab.dead()).toHaveLength(1);
});

test("a schedule comes once at each of its times, whoever is there, and once for all that were missed", async () => {
  const { seen, definition } = noting("a.tick", undefined, { schedule: "*/5 * * * *" });
  const instances = [lab.create([definition]), lab.create([definition])];
  const tick = async () => {
    await Promise.all(instances.map((jobs) => jobs.runDue()));
    return seen.length;
  };
  expect(await tick()).toBe(0);
  expect(await lab.waiting()).toHaveLength(1);
  for (const [ms, runs] of [
    [4 * minute, 0],
    [minute, 1],
    [minute, 1],
    [4 * minute, 2],
    [60 * minute, 3],
    [5 * minute, 4],
  ] as const) {
    lab.turn(ms);
    expect(await tick()).toBe(runs);
  }
  expect((await lab.waiting())[0]).toMatchObject({ attempts: 0, run_at: "2026-03-01T11:20:00.000Z" });
});

test("a schedule that fails is retried within its time, and outlives its last attempt", async () => {
  const numbers: number[] = [];
  const { definition } = noting(
    "a.tick",
    async (_, { number }) => {
      numbers.push(number);
      throw new Error("no");
    },
    { schedule: "0 * * * *", maxAttempts: 2 },
  );
  const jobs = lab.create([definition]);
  await jobs.runDue();
  for (const ms of [60 * minute, minute, minute, 58 * minute]) {
    lab.turn(ms);
    await jobs.runDue();
  }
  expect(numbers).toEqual([1, 2, 1]);
  expect(await lab.dead()).toEqual([]);
});

test("a retry of a schedule never passes over its next time", async () => {
  const { definition } = noting("a.tick", () => Promise.reject(new Error("no")), {
    schedule: "* * * * *",
    maxAttempts: 20,
  });
  const jobs = lab.create([definition]);
  await jobs.runDue();
  await sql`update jobs set attempts = 9`.execute(lab.database.queries);
  lab.turn(minute);
  await jobs.runDue();
  expect((await lab.waiting())[0]).toMatchObject({ attempts: 10, run_at: "2026-03-01T10:02:00.000Z" });
});

test("an instance that starts while a schedule's job runs does not run it too", async () => {
  const begun: (() => void)[] = [];
  const { definition } = noting("a.tick", () => new Promise((end) => begun.push(() => end(undefined))), {
    schedule: "* * * * *",
    leaseMs: 10 * minute,
  });
  const [first, second] = [lab.create([definition]), lab.create([definition])];
  await first.runDue();
  lab.turn(minute);
  const running = first.runDue();
  await vi.waitFor(() => expect(begun).toHaveLength(1));
  expect(await second.runDue()).toBe(0);
  lab.turn(minute);
  expect(await second.runDue()).toBe(0);
  begun[0]?.();
  await running;
  expect(begun).toHaveLength(1);
});

test("the wait doubles from 1 s to 1 h, give or take a fifth", () => {
  const middle = (attempt: number) => backoff(attempt, () => 0.5);
  expect([1, 2, 3, 10, 12, 13, 1_000].map(middle)).toEqual([
    1_000, 2_000, 4_000, 512_000, 2_048_000, 3_600_000, 3_600_000,
  ]);
  expect([backoff(1, () => 0), backoff(1, () => 1)]).toEqual([800, 1_200]);
});
