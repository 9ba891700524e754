/**
 * Lanes: fair sharing of the slots between lanes, and lanes whose destination fails.
 *
 * @module-tag both
 */
import { setImmediate as yieldToOthers } from "node:timers/promises";
import { expect, test } from "vitest";
import { Lanes } from "../src/jobs/lanes.ts";
import { makeJob, recordRuns, useJobsFixture } from "./support/jobs-fixture.ts";

const fixture = useJobsFixture();

/** A job that runs until it is aborted. */
const recordHangingRuns = () =>
  recordRuns(
    "a.hang",
    (_, { signal }) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  );

test("a lane whose jobs hang uses only its own slots and delays no other lane", async () => {
  const hanging = recordHangingRuns();
  const other = recordRuns("a.b");
  const jobs = fixture.create([hanging.definition, other.definition], { pollMs: 3_600_000 });
  const lanes = Array.from({ length: 300 }, (_, n) => makeJob("a.hang", n, { lane: `hang ${n % 3}` }));
  await fixture.enqueue(jobs, ...lanes);
  jobs.start();
  await expect.poll(() => hanging.runs).toHaveLength(3 * 4);
  for (let n = 0; n < 20; n += 1) {
    await fixture.enqueue(jobs, makeJob("a.b", n));
    await expect.poll(() => other.runs).toHaveLength(n + 1);
  }
  expect(hanging.runs).toHaveLength(3 * 4);
});

test("an organization with a hundred lanes whose jobs all hang delays no other organization", async () => {
  const hanging = recordHangingRuns();
  const other = recordRuns("a.b");
  const jobs = fixture.create([hanging.definition, other.definition], { pollMs: 3_600_000 });
  const lanes = Array.from({ length: 400 }, (_, n) =>
    makeJob("a.hang", n, { lane: `hang ${n % 100}`, organization_id: "org_hanging" }),
  );
  await fixture.enqueue(jobs, ...lanes);
  jobs.start();
  await expect.poll(() => hanging.runs.length).toBeGreaterThanOrEqual(3 * 16);
  for (let n = 0; n < 20; n += 1) {
    await fixture.enqueue(jobs, makeJob("a.b", n, { organization_id: "org_other" }));
    await expect.poll(() => other.runs).toHaveLength(n + 1);
  }
});

test("the backlog of one lane delays no other lane", async () => {
  const busy = recordRuns("a.busy", async () => yieldToOthers());
  const other = recordRuns("a.b");
  const jobs = fixture.create([busy.definition, other.definition]);
  await fixture.enqueue(jobs, ...Array.from({ length: 5_000 }, (_, n) => makeJob("a.busy", n)));
  jobs.start();
  await expect.poll(() => busy.runs.length, { interval: 1 }).toBeGreaterThan(0);
  const before = busy.runs.length;
  await fixture.enqueue(jobs, makeJob("a.b", "now"));
  await expect.poll(() => other.runs, { interval: 1 }).toEqual(["now"]);
  expect(busy.runs.length - before).toBeLessThan(500);
});

test("the backlog of one organization delays no job of the same name of another organization", async () => {
  const { runs, definition } = recordRuns("a.b", async () => yieldToOthers());
  const jobs = fixture.create([definition]);
  await fixture.enqueue(
    jobs,
    ...Array.from({ length: 5_000 }, (_, n) => makeJob("a.b", n, { organization_id: "org_busy" })),
    makeJob("a.b", "now", { organization_id: "org_other" }),
  );
  jobs.start();
  await expect.poll(() => runs, { interval: 1 }).toContain("now");
  expect(runs.length).toBeLessThan(500);
});

test("with more lanes than slots, every lane is served in rotation", async () => {
  const { runs, definition } = recordRuns("a.b");
  const jobs = fixture.create([definition], { concurrency: 1 });
  const lanes = Array.from({ length: 20 }, (_, n) => `lane ${n}`);
  await fixture.enqueue(
    jobs,
    ...lanes.flatMap((lane) => Array.from({ length: 10 }, () => makeJob("a.b", lane, { lane }))),
  );
  await jobs.runDue();
  expect(runs).toHaveLength(200);
  expect(new Set(runs.slice(0, 60)).size).toBe(20);
});

test("the last quarter of the slots is reserved for lanes with nothing running", () => {
  const lanes = new Lanes(16);
  const now = fixture.now();
  const fullOrganizations: string[] = [];
  expect(lanes.capacity(now)).toEqual({ limit: 48, perLane: 4, freeByLane: {}, fullOrganizations });
  for (let n = 0; n < 48; n += 1) {
    start(lanes, `lane ${n % 2}`);
  }
  const freeByLane = { "lane 0": 0, "lane 1": 0 };
  expect(lanes.capacity(now)).toEqual({ limit: 1, perLane: 1, freeByLane, fullOrganizations });
  for (let n = 0; n < 16; n += 1) {
    start(lanes, "a");
  }
  expect(lanes.capacity(now).limit).toBe(0);
});

test("the limit of a lane rises with every job that ends normally, and is reset after a second of idling", () => {
  const lanes = new Lanes(16);
  const now = fixture.now();
  const end = { mustBackOff: false, now };
  const endFirst = start(lanes, "a");
  endJobs(lanes, 5, end);
  expect(lanes.capacity(now).freeByLane).toEqual({ a: 4 + 5 - 1 });
  endJobs(lanes, 100, end);
  expect(lanes.capacity(now).freeByLane).toEqual({ a: 16 - 1 });
  endFirst(end);
  const later = (ms: number) => new Date(now.getTime() + ms);
  // Jobs that end together leave nothing running, however long the backlog is.
  expect(lanes.capacity(later(999)).freeByLane).toEqual({ a: 16 });
  expect(lanes.capacity(later(1_000)).freeByLane).toEqual({});
});

test("backing off halves the limit to one, then pauses the lane for longer each time; one success ends the pause", () => {
  const lanes = new Lanes(16);
  const now = fixture.now();
  const later = (ms: number) => new Date(now.getTime() + ms);
  const backedOff = { mustBackOff: true, now };
  endJobs(lanes, 2, backedOff);
  expect(lanes.capacity(now).freeByLane).toEqual({ a: 1 });
  expect(lanes.resumesAt(now)).toBe(Number.POSITIVE_INFINITY);
  endJobs(lanes, 1, backedOff);
  expect(lanes.capacity(now).freeByLane).toEqual({ a: 0 });
  expect(lanes.resumesAt(now)).toBe(later(100).getTime());
  expect(lanes.capacity(later(100)).freeByLane).toEqual({ a: 1 });
  expect(lanes.resumesAt(later(100))).toBe(Number.POSITIVE_INFINITY);
  endJobs(lanes, 10, backedOff);
  expect(lanes.resumesAt(now)).toBe(later(5_000).getTime());
  expect(lanes.capacity(later(-60_000)).freeByLane).toEqual({ a: 1 });
  endJobs(lanes, 3, { mustBackOff: false, now });
  expect(lanes.capacity(later(5_000)).freeByLane).toEqual({});
  endJobs(lanes, 4, backedOff);
  expect(lanes.capacity(later(59_999)).freeByLane).toEqual({ a: 1 });
  expect(lanes.capacity(later(60_000)).freeByLane).toEqual({});
});

test("jobs that ran side by side and back off halve the limit once", () => {
  const lanes = new Lanes(16);
  const now = fixture.now();
  const ends = [1, 2, 3, 4].map(() => start(lanes, "a"));
  for (const end of ends) {
    end({ mustBackOff: true, now });
  }
  expect(lanes.capacity(now).freeByLane).toEqual({ a: 2 });
});

test("a lane that backs off repeatedly is paused, and tried again after the pause", async () => {
  const { runs, definition } = recordRuns("a.fail", async (_, { backOff }) => {
    backOff();
    return undefined;
  });
  const jobs = fixture.create([definition]);
  await fixture.enqueue(jobs, ...Array.from({ length: 50 }, (_, n) => makeJob("a.fail", n)));
  await jobs.runDue();
  const before = runs.length;
  expect(before).toBeLessThan(8);
  expect(await jobs.runDue()).toBe(0);
  fixture.advance(5_000);
  expect(await jobs.runDue()).toBe(1);
});

test("a lane without a free slot is full, unless its limit is low because it backs off", () => {
  const lanes = new Lanes(16);
  const now = fixture.now();
  const ends = [1, 2, 3].map(() => start(lanes, "a"));
  expect(lanes.hasFull).toBe(false);
  ends.push(start(lanes, "a"));
  expect(lanes.hasFull).toBe(true);
  ends[0]?.({ mustBackOff: true, now });
  expect(lanes.hasFull).toBe(false);
});

test("jobs that take a quarter of a slot run four times as many at once", () => {
  const lanes = new Lanes(16);
  const now = fixture.now();
  start(lanes, "a", 1 / 4);
  expect(lanes.capacity(now)).toMatchObject({ limit: 47, freeByLane: { a: 4 * 4 - 1 } });
  for (let n = 1; n < 16; n += 1) {
    start(lanes, "a", 1 / 4);
  }
  expect(lanes.capacity(now)).toMatchObject({ limit: 44, freeByLane: { a: 0 } });
});

test("a job that waits yields its slots to its lane, whose yielded slots are limited", () => {
  const lanes = new Lanes(16);
  const now = fixture.now();
  const later = new Date(now.getTime() + 500);
  const ends = [1, 2, 3, 4].map(() => startWaiting(lanes));
  expect(lanes.capacity(new Date(later.getTime() - 1)).freeByLane).toEqual({ a: 0 });
  expect(lanes.capacity(later).freeByLane).toEqual({ a: 4 });
  for (const end of ends) {
    end({ mustBackOff: true, now });
  }
  expect(lanes.capacity(later).freeByLane).toEqual({ a: 2 });
  const others = Array.from({ length: 20 }, () => startWaiting(lanes));
  expect(lanes.capacity(later).freeByLane).toEqual({ a: 0 });
  others[0]?.({ mustBackOff: false, now });
  others[19]?.({ mustBackOff: false, now });
  expect(lanes.capacity(later).freeByLane).toEqual({ a: 2 });
});

/** A job that yields its slot after 500 ms. */
function startWaiting(lanes: Lanes) {
  const yieldsAt = fixture.now().getTime() + 500;
  return lanes.start({ lane: "a", organization: null, slots: 1, yieldsAt });
}

test("a few messages that hang delay no other of their lane", async () => {
  const hanging = recordRuns(
    "a.send",
    (payload, { signal }) =>
      payload === "now"
        ? Promise.resolve(undefined)
        : new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    { yieldsAfterMs: 500 },
  );
  const jobs = fixture.create([hanging.definition], { pollMs: 20 });
  await fixture.enqueue(jobs, ...Array.from({ length: 16 }, (_, n) => makeJob("a.send", n)));
  await fixture.enqueue(jobs, makeJob("a.send", "now"));
  jobs.start();
  for (const started of [4, 8, 12, 16]) {
    await expect.poll(() => hanging.runs).toHaveLength(started);
    fixture.advance(500);
  }
  await expect.poll(() => hanging.runs).toContain("now");
});

function start(lanes: Lanes, lane: string, slots = 1) {
  return lanes.start({ lane, organization: null, slots });
}

/** Starts and ends `count` jobs of the lane, one after the other. */
function endJobs(lanes: Lanes, count: number, end: { mustBackOff: boolean; now: Date }, lane = "a") {
  for (let n = 0; n < count; n += 1) {
    start(lanes, lane)(end);
  }
}
