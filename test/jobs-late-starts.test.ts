/** The rate of a lane whose jobs do something first: a start counts when the job begins what the rate limits. */
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import type { JobDefinition } from "../src/jobs/job.ts";
import { iterations } from "./support/iterations.ts";
import { anyPayload, makeJob, useJobsFixture } from "./support/jobs-fixture.ts";
import { createRandom, mostInASecond } from "./support/starts.ts";

const lane = "channel:ibx_1";
const fixture = useJobsFixture();

/** A job that waits for a time of the fixture's clock. */
interface WaitingJob {
  readonly until: number;
  readonly goOn: () => void;
}

/** Jobs that wait for `delayMs` before they start, in processes whose clocks differ by `skewsMs`. */
async function createLate(rate: number | null, delayMs: () => number, skewsMs: readonly number[] = [0]) {
  const starts: number[] = [];
  const waiting = new Set<WaitingJob>();
  /** The jobs that were claimed and neither wait nor have started. */
  let active = 0;
  const wait = (ms: number) =>
    new Promise<void>((resolve) => {
      active -= 1;
      const one: WaitingJob = {
        until: fixture.now().getTime() + ms,
        goOn() {
          waiting.delete(one);
          active += 1;
          resolve();
        },
      };
      waiting.add(one);
    });
  const definition: JobDefinition = {
    name: "a.b",
    payload: anyPayload,
    async run(_payload, { startNow }) {
      await wait(delayMs());
      await startNow(50);
      starts.push(fixture.now().getTime());
      active -= 1;
      return undefined;
    },
  };
  await fixture.database.transaction((tx) => fixture.create([definition]).pace(tx, lane, rate));
  const pollers = skewsMs.map((skewMs) => {
    const now = () => new Date(fixture.now().getTime() + skewMs);
    return fixture.createPoller(definition, { now, concurrency: 64, delay: wait });
  });
  const settle = () => expect.poll(() => active).toBe(0);
  return {
    starts,
    waiting,
    settle,
    async add(count: number) {
      const jobs = Array.from({ length: count }, (_, n) => makeJob("a.b", n, { lane }));
      await fixture.enqueue(fixture.create([definition]), ...jobs);
    },
    /** Claims, and lets the jobs go on whose wait is over. */
    async step() {
      for (const poller of pollers) {
        const { claimed } = await poller.poll({ canClaim: true });
        active += claimed;
      }
      await settle();
      for (const { until, goOn } of [...waiting]) {
        if (until <= fixture.now().getTime()) {
          goOn();
        }
      }
      await settle();
    },
  };
}

describe("a job that starts long after its claim", () => {
  test("counts from its start", async () => {
    const { add, step, starts } = await createLate(4, () => 500);
    await add(6);
    await step();
    fixture.advance(100);
    await step();
    fixture.advance(500);
    await step();
    expect(starts).toHaveLength(4);
    // A second after the claims, not after the starts.
    fixture.advance(600);
    await step();
    fixture.advance(400);
    await step();
    expect(starts).toHaveLength(4);
    fixture.advance(100);
    await step();
    fixture.advance(500);
    await step();
    expect(starts).toHaveLength(6);
  });

  test("waits while the rate is used up, and those that are claimed next wait for it", async () => {
    let delayMs = 5_000;
    const { add, step, starts } = await createLate(2, () => delayMs);
    await add(2);
    await step();
    fixture.advance(4_900);
    delayMs = 0;
    await add(4);
    await step();
    expect(starts).toHaveLength(2);
    // The late ones: they get the next second.
    fixture.advance(100);
    await step();
    expect(starts).toHaveLength(2);
    fixture.advance(1_000);
    await step();
    expect(starts).toHaveLength(4);
    fixture.advance(1_000);
    await step();
    expect(starts).toHaveLength(4);
    fixture.advance(100);
    await step();
    expect(starts).toHaveLength(6);
  });

  test("of many, as after a process was frozen, has its turn", async () => {
    const { add, step, starts } = await createLate(10, () => 3_000);
    await add(40);
    for (let tenth = 0; tenth < 29; tenth += 1) {
      await step();
      fixture.advance(100);
    }
    expect(starts).toEqual([]);
    fixture.advance(30_000);
    for (let tenth = 0; tenth < 100; tenth += 1) {
      await step();
      fixture.advance(100);
    }
    expect(starts).toHaveLength(40);
    expect(mostInASecond(starts)).toBeLessThanOrEqual(10);
  });

  test("goes on at half of the rate where each takes longer than a second to start", async () => {
    const { add, step, starts } = await createLate(10, () => 1_300);
    await add(200);
    for (let tenth = 0; tenth < 200; tenth += 1) {
      await step();
      fixture.advance(100);
    }
    // A start counts for 1.1 seconds, and each counts twice.
    expect(starts.length).toBeGreaterThanOrEqual(85);
  });

  test("starts when its start can't be counted", async () => {
    const { add, step, starts, waiting, settle } = await createLate(1, () => 5_000);
    await add(1);
    await step();
    await sql`alter table paced_lanes rename to paced_lanes_away`.execute(fixture.database.queries);
    fixture.advance(5_000);
    for (const { goOn } of waiting) {
      goOn();
    }
    await settle();
    await sql`alter table paced_lanes_away rename to paced_lanes`.execute(fixture.database.queries);
    expect(starts).toHaveLength(1);
    expect(fixture.logged).toContain("The start of a job could not be counted");
  });

  test("starts once the lane has no rate any more", async () => {
    const { add, step, starts } = await createLate(1, () => 5_000);
    await add(1);
    await step();
    await sql`truncate paced_lanes`.execute(fixture.database.queries);
    fixture.advance(5_000);
    await step();
    expect(starts).toHaveLength(1);
  });

  test.each([1, 2, 3, 4])(
    "never makes a second exceed the rate, over processes whose clocks differ, seed %i",
    async (seed) => {
      const random = createRandom(seed);
      const rate = 1 + Math.floor(random() * 30);
      const delayMs = () => (random() < 0.7 ? random() * 40 : random() * 5_000);
      const { add, step, starts } = await createLate(rate, delayMs, [-20, 0, 20]);
      const count = iterations(3, 8) * rate;
      await add(count);
      const end = fixture.now().getTime() + 40_000;
      while (starts.length < count && fixture.now().getTime() < end) {
        await step();
        fixture.advance(1 + Math.floor(random() * 40));
      }
      expect(starts).toHaveLength(count);
      expect(mostInASecond(starts)).toBeLessThanOrEqual(rate);
    },
  );
});
