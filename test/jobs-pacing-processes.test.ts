/** The rate of a lane over several processes, whose clocks differ and which die. */
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import type { Database } from "../src/database/database.ts";
import type { JobDefinition, NewJob } from "../src/jobs/job.ts";
import type { JobsOptions } from "../src/jobs/jobs.ts";
import { iterations } from "./support/iterations.ts";
import { anyPayload, makeJob, recordRuns, useJobsFixture } from "./support/jobs-fixture.ts";
import { createRandom, mostInASecond } from "./support/starts.ts";

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
async function createPaced(rate: number, added: readonly NewJob[], options: Partial<JobsOptions> = {}) {
  const { runs, definition } = recordRuns("a.b");
  const jobs = fixture.create([definition], options);
  await fixture.database.transaction((tx) => jobs.pace(tx, lane, rate));
  await fixture.enqueue(jobs, ...added);
  return { jobs, runs, definition };
}

describe("several processes", () => {
  test.each([1, 2, 3, 4])(
    "whose clocks differ and which die never exceed the rate, seed %i",
    async (seed) => {
      const seconds = iterations(3, 10);
      const random = createRandom(seed);
      const rate = 1 + Math.floor(random() * 40);
      const starts: number[] = [];
      const definition: JobDefinition = {
        name: "a.b",
        payload: anyPayload,
        async run() {
          starts.push(fixture.now().getTime());
          return undefined;
        },
      };
      const processes = [0, 1, 2].map((n) => createProcess(definition, (n - 1) * 20, random));
      const adder = fixture.create([definition]);
      await fixture.database.transaction((tx) => adder.pace(tx, lane, rate));
      await fixture.enqueue(
        adder,
        ...makeMany(4 * seconds * rate, (n) => (random() < 0.5 ? makeBulk(n) : makeJob("a.b", n, { lane }))),
      );
      const begin = fixture.now().getTime();
      while (fixture.now().getTime() < begin + seconds * 1_000) {
        fixture.advance(Math.floor(random() * 60));
        await Promise.all(processes.map((one) => one.poll()));
      }
      expect(mostInASecond(starts)).toBeLessThanOrEqual(rate);
      expect(starts.length).toBeGreaterThan((seconds / 2) * rate);
      expect(processes.reduce((sum, { deaths }) => sum + deaths(), 0)).toBeGreaterThan(0);
    },
  );

  test("do not exceed the rate when all poll at once", async () => {
    const { jobs, definition, runs } = await createPaced(20, replies(500));
    const others = [1, 2, 3].map(() => fixture.create([definition]));
    const counts = await Promise.all([jobs, ...others].map((one) => one.runDue()));
    // What may start in 100 ms.
    expect(counts.reduce((sum, count) => sum + count)).toBe(4);
    expect(runs).toHaveLength(4);
  });

  test("count the jobs that a process had claimed when it died, and not those of a claim that was rolled back", async () => {
    const { jobs, definition } = await createPaced(10, replies(30));
    const database = dieInTransactions(() => "after");
    const killed = fixture.create([definition], { database });
    await expect(killed.runDue()).rejects.toThrow("died");
    expect(await jobs.runDue()).toBe(0);
    fixture.advance(windowMs);
    const cut = fixture.create([definition], { database: dieInTransactions(() => "before") });
    await expect(cut.runDue()).rejects.toThrow("died");
    expect(await jobs.runDue()).toBe(3);
  });

  test("do not wait for one that has locked the rate, and serve the other lanes", {
    tags: "postgres",
  }, async () => {
    const { jobs, runs } = await createPaced(10, replies(3), { pollMs: 3_600_000 });
    await fixture.enqueue(jobs, makeJob("a.b", "other", { lane: "channel:ibx_2" }));
    await fixture.database.transaction(async (tx) => {
      await sql`select from paced_lanes where lane = ${lane} for update`.execute(tx);
      jobs.start();
      await expect.poll(() => runs).toEqual(["other"]);
    });
    // No commit wakes the worker.
    await expect.poll(() => runs).toHaveLength(4);
  });
});

type Death = "before" | "after" | undefined;

/** The fixture's database, for a process that may die just before or just after the commit of a claim. */
function dieInTransactions(die: () => Death): Database {
  return {
    ...fixture.database,
    async transaction(transact, options) {
      const death = die();
      const result = await fixture.database.transaction(async (tx) => {
        const early = await transact(tx);
        if (death === "before") {
          throw new Error("died");
        }
        return early;
      }, options);
      if (death === "after") {
        throw new Error("died");
      }
      return result;
    },
  };
}

/**
 * A process whose clock is off by some milliseconds, and which dies now and then; another
 * one takes its place.
 */
function createProcess(definition: JobDefinition, offsetMs: number, random: () => number) {
  let deaths = 0;
  const database = dieInTransactions(() => {
    const death = random() < 0.05 ? (["before", "after"] as const)[Math.floor(random() * 2)] : undefined;
    deaths += Number(death !== undefined);
    return death;
  });
  const now = () => new Date(fixture.now().getTime() + offsetMs);
  const jobs = fixture.create([definition], { database, now });
  return {
    jobs,
    deaths: () => deaths,
    async poll() {
      if (random() < 0.7) {
        await jobs.runDue().catch(() => undefined);
      }
    },
  };
}
