/** The rate of a lane whose jobs do something first: a start counts when the job begins what the rate limits. */
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import type { JobDefinition } from "../src/jobs/job.ts";
import { iterations } from "./support/iterations.ts";
import { anyPayload, makeJob, useJobsFixture } from "./support/jobs-fixture.ts";
import { createRandom, mostInASecond } from "./support/starts.ts";

const lane = "channel:ibx_1";
const fixture = useJobsFixture();

/** A job between its claim and its start. */
interface Waiting {
  readonly until: number;
  /** Resolves when the job has started. */
  readonly goOn: () => Promise<void>;
}

/** Jobs that wait for `delayMs` before they start, in processes whose clocks differ by `skewsMs`. */
async function createLate(rate: number | null, delayMs: () => number, skewsMs: readonly number[] = [0]) {
  const starts: number[] = [];
  const waiting = new Set<Waiting>();
  const definition: JobDefinition = {
    ...{ name: "a.b", payload: anyPayload },
    run: (_payload, { startNow }) =>
      new Promise((resolve) => {
        const one: Waiting = {
          until: fixture.now().getTime() + delayMs(),
          async goOn() {
            waiting.delete(one);
            await startNow(50);
            starts.push(fixture.now().getTime());
            resolve(undefined);
          },
        };
        waiting.add(one);
      }),
  };
  await fixture.database.transaction((tx) => fixture.create([definition]).pace(tx, lane, rate));
  const pollers = skewsMs.map((skewMs) => {
    const now = () => new Date(fixture.now().getTime() + skewMs);
    return fixture.createPoller(definition, { now, concurrency: 64 });
  });
  return {
    ...{ starts, waiting },
    async add(count: number) {
      const jobs = Array.from({ length: count }, (_, n) => makeJob("a.b", n, { lane }));
      await fixture.enqueue(fixture.create([definition]), ...jobs);
    },
    /** Claims, and lets the jobs go on whose delay is over. */
    async step() {
      await Promise.all(pollers.map((poller) => poller.poll({ canClaim: true })));
      const due = [...waiting].filter(({ until }) => until <= fixture.now().getTime());
      await Promise.all(due.map(({ goOn }) => goOn()));
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

  test("is not held back by others, and those that are claimed next wait for it", async () => {
    let delayMs = 5_000;
    const { add, step, starts } = await createLate(2, () => delayMs);
    await add(2);
    await step();
    fixture.advance(4_900);
    delayMs = 0;
    await add(4);
    await step();
    expect(starts).toHaveLength(2);
    fixture.advance(100);
    await step();
    expect(starts).toHaveLength(4);
    fixture.advance(1_000);
    await step();
    expect(starts).toHaveLength(4);
    fixture.advance(100);
    await step();
    expect(starts).toHaveLength(6);
  });

  test("goes on at half of the rate where each takes longer than a second to start", async () => {
    const { add, step, starts } = await createLate(10, () => 1_300);
    await add(200);
    for (let tenth = 0; tenth < 200; tenth += 1) {
      await step();
      fixture.advance(100);
    }
    expect(starts.length).toBeGreaterThanOrEqual(100);
  });

  test("starts when its start can't be counted", async () => {
    const { add, step, starts, waiting } = await createLate(1, () => 5_000);
    await add(1);
    await step();
    await sql`alter table paced_lanes rename to paced_lanes_away`.execute(fixture.database.queries);
    fixture.advance(5_000);
    for (const { goOn } of waiting) {
      await goOn();
    }
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
      const delayMs = () => (random() < 0.7 ? random() * 40 : random() * 900);
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
