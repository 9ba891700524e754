/** The job engine: what was promised in a transaction is done, in order, and no lane keeps another waiting. */
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { expect, test, vi } from "vitest";
import { Lanes } from "../src/jobs/lanes.ts";
import { job, noting, useLab } from "./support/job-lab.ts";

const minute = 60_000;
const lab = useLab();

test("what a transaction promised and took back is never done", async () => {
  const { seen, definition } = noting("a.b");
  const jobs = lab.create([definition]);
  const refused = lab.database.transaction(async (tx) => {
    await jobs.enqueue(tx, job("a.b"));
    throw new Error("no");
  });
  await expect(refused).rejects.toThrow("no");
  expect(await jobs.runDue()).toBe(0);
  expect(seen).toEqual([]);
});

test("a job begins when its transaction commits, not at the next poll and not before", async () => {
  const { seen, definition } = noting("a.b");
  const jobs = lab.create([definition], { pollMs: 60_000 });
  jobs.start();
  await delay(50);
  await lab.database.transaction(async (tx) => {
    await jobs.enqueue(tx, job("a.b", { n: 1 }));
    await delay(50);
    expect(seen).toEqual([]);
  });
  await vi.waitFor(() => expect(seen).toEqual([{ n: 1 }]), 500);
  await vi.waitFor(async () => expect(await lab.waiting()).toEqual([]));
});

test("payloads arrive as they were given, null too, and every job of a large batch arrives", async () => {
  const { seen, definition } = noting("a.b");
  const jobs = lab.create([definition]);
  const payloads = [
    null,
    "text",
    { deep: [1, { ü: "\u2028" }] },
    ...Array.from({ length: 500 }, (_, n) => n),
  ];
  await lab.enqueue(jobs, ...payloads.map((payload, n) => job("a.b", payload, { lane: String(n % 7) })));
  expect(await jobs.runDue()).toBe(503);
  expect(new Set(seen.map((one) => JSON.stringify(one)))).toEqual(
    new Set(payloads.map((one) => JSON.stringify(one))),
  );
  expect(await lab.waiting()).toEqual([]);
});

test("a shared job is added once while it waits to begin, and again once it has begun", async () => {
  const { seen, definition } = noting("a.b");
  const jobs = lab.create([definition]);
  const add = (n: number) => lab.enqueue(jobs, { ...job("a.b", n, { key: "k" }), isShared: true });
  await add(1);
  await add(1);
  await lab.enqueue(jobs, job("a.b", 3, { key: "k" }));
  await jobs.runDue();
  expect(seen).toEqual([1, 3]);
  await add(1);
  await jobs.runDue();
  expect(seen).toEqual([1, 3, 1]);
});

test("a shared job is not left out for one of its key that will do something else", async () => {
  const { seen, definition } = noting("a.b");
  const jobs = lab.create([definition]);
  await lab.enqueue(jobs, job("a.b", 1, { key: "k" }));
  await lab.enqueue(jobs, { ...job("a.b", 2, { key: "k" }), isShared: true });
  await jobs.runDue();
  expect(seen).toEqual([1, 2]);
});

test("a job waits for its time", async () => {
  const { seen, definition } = noting("a.b");
  const jobs = lab.create([definition]);
  await lab.enqueue(jobs, job("a.b", 1, { runAt: new Date(lab.now().getTime() + minute) }));
  await jobs.runDue();
  expect(seen).toEqual([]);
  lab.turn(minute);
  await jobs.runDue();
  expect(seen).toEqual([1]);
});

test("jobs of one key run one at a time and in order, also while an earlier one is retried", async () => {
  let atOnce = 0;
  let failures = 0;
  const { seen, definition } = noting("a.b", async (payload) => {
    atOnce += 1;
    expect(atOnce).toBe(1);
    await delay(2);
    atOnce -= 1;
    if (payload === 2 && failures < 2) {
      failures += 1;
      throw new Error("not yet");
    }
    return undefined;
  });
  const jobs = lab.create([definition]);
  await lab.enqueue(jobs, ...[1, 2, 3].map((n) => job("a.b", n, { key: "k" })));
  await lab.enqueue(jobs, job("a.b", 4, { key: "k", lane: "another" }));
  await jobs.runDue();
  expect(seen).toEqual([1, 2]);
  lab.turn(minute);
  await jobs.runDue();
  lab.turn(minute);
  await jobs.runDue();
  expect(seen).toEqual([1, 2, 2, 2, 3, 4]);
});

test("a key that waits holds up no other in its lane", async () => {
  const { seen, definition } = noting("a.b", async (payload) => {
    if (payload === "bad") {
      throw new Error("no");
    }
    return undefined;
  });
  const jobs = lab.create([definition]);
  await lab.enqueue(jobs, ...["bad", "behind"].map((one) => job("a.b", one, { key: "k", lane: "lane" })));
  await lab.enqueue(
    jobs,
    ...["x", "y"].map((one) => job("a.b", one, { key: one, lane: "lane" })),
    job("a.b", "z", { lane: "lane" }),
  );
  await jobs.runDue();
  expect(new Set(seen)).toEqual(new Set(["bad", "x", "y", "z"]));
});

test("what stands behind a key's retry comes due with it", async () => {
  const { definition } = noting("a.b", () => Promise.reject(new Error("no")));
  const jobs = lab.create([definition]);
  const later = new Date(lab.now().getTime() + minute);
  await lab.enqueue(jobs, ...["k", "k", "j"].map((key) => job("a.b", null, { key })));
  await lab.enqueue(jobs, job("a.b", null, { key: "k", runAt: later }));
  await jobs.runDue();
  const [first, second, , fourth] = await lab.waiting();
  expect(second).toMatchObject({ run_at: first?.run_at, attempts: 0 });
  expect(fourth?.run_at).toBe(later.toISOString());
});

test("a lane whose jobs hang takes its share of the slots, and delays no other", async () => {
  const hanging = noting(
    "a.hang",
    (_, { signal }) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  );
  const other = noting("a.b");
  const jobs = lab.create([hanging.definition, other.definition]);
  const lanes = Array.from({ length: 300 }, (_, n) => job("a.hang", n, { lane: `hang ${n % 3}` }));
  await lab.enqueue(jobs, ...lanes);
  jobs.start();
  await vi.waitFor(() => expect(hanging.seen).toHaveLength(3 * 4));
  for (let n = 0; n < 20; n += 1) {
    await lab.enqueue(jobs, job("a.b", n));
    await vi.waitFor(() => expect(other.seen).toHaveLength(n + 1), { timeout: 500, interval: 2 });
  }
  expect(hanging.seen).toHaveLength(3 * 4);
});

test("a lane's backlog delays no other", async () => {
  const busy = noting("a.busy", () => delay(1));
  const other = noting("a.b");
  const jobs = lab.create([busy.definition, other.definition]);
  await lab.enqueue(jobs, ...Array.from({ length: 5_000 }, (_, n) => job("a.busy", n)));
  jobs.start();
  await vi.waitFor(() => expect(busy.seen.length).toBeGreaterThan(0));
  const before = busy.seen.length;
  await lab.enqueue(jobs, job("a.b", "now"));
  await vi.waitFor(() => expect(other.seen).toEqual(["now"]), { interval: 1 });
  expect(busy.seen.length - before).toBeLessThan(500);
});

test("more lanes than slots have their turns one after the other", async () => {
  const { seen, definition } = noting("a.b");
  const jobs = lab.create([definition], { concurrency: 1 });
  const lanes = Array.from({ length: 20 }, (_, n) => `lane ${n}`);
  await lab.enqueue(
    jobs,
    ...lanes.flatMap((lane) => Array.from({ length: 10 }, () => job("a.b", lane, { lane }))),
  );
  await jobs.runDue();
  expect(seen).toHaveLength(200);
  expect(new Set(seen.slice(0, 60)).size).toBe(20);
});

test("a job that this version does not know stays where it is, and is told of", async () => {
  await lab.enqueue(lab.create([noting("new.job").definition]), job("new.job", 1));
  const before = await lab.waiting();
  const jobs = lab.create([noting("a.b").definition]);
  expect(await jobs.runDue()).toBe(0);
  expect(await lab.waiting()).toEqual(before);
  expect(lab.said).toEqual([expect.stringContaining("left alone")]);
  await expect(lab.enqueue(jobs, job("a.typo"))).rejects.toThrow("a.typo");
});

test("a plan made for the empty table does not outlive it", async () => {
  const jobs = lab.create([noting("a.b").definition, noting("c.d").definition]);
  await sql`vacuum analyze jobs`.execute(lab.database.queries);
  for (let n = 0; n < 8; n += 1) {
    await jobs.runDue();
  }
  const runAt = new Date(lab.now().getTime() + minute);
  for (let n = 0; n < 20; n += 1) {
    await lab.enqueue(
      jobs,
      ...Array.from({ length: 1_000 }, (_, m) =>
        job("a.b", null, { key: `k${m}`, lane: `l${m % 50}`, runAt }),
      ),
    );
  }
  await lab.enqueue(
    jobs,
    ...Array.from({ length: 50 }, (_, m) => job("c.d", null, { key: `k${m}`, lane: `l${m}` })),
  );
  const start = performance.now();
  expect(await jobs.runDue()).toBe(0);
  // Read whole, the table takes some 250 ms for this.
  expect(performance.now() - start).toBeLessThan(100);
});

/** Ends that many jobs of the lane one after the other, each with or without strain. */
function endJobs(lanes: Lanes, count: number, end: { isStrained: boolean; now: Date }, lane = "a") {
  for (let n = 0; n < count; n += 1) {
    lanes.begin(lane)(end);
  }
}

test("the last quarter of the slots is for lanes that have nothing in flight", () => {
  const lanes = new Lanes(16);
  const now = lab.now();
  expect(lanes.share(now)).toEqual({ limit: 48, perLane: 4, room: {} });
  for (let n = 0; n < 48; n += 1) {
    lanes.begin(`lane ${n % 2}`);
  }
  expect(lanes.share(now)).toEqual({ limit: 16, perLane: 1, room: { "lane 0": 0, "lane 1": 0 } });
  for (let n = 0; n < 16; n += 1) {
    lanes.begin("a");
  }
  expect(lanes.share(now).limit).toBe(0);
});

test("a lane widens while its jobs end well, and is forgotten when it is idle", () => {
  const lanes = new Lanes(16);
  const now = lab.now();
  const end = { isStrained: false, now };
  const endFirst = lanes.begin("a");
  endJobs(lanes, 5, end);
  expect(lanes.share(now).room).toEqual({ a: 4 + 5 - 1 });
  endJobs(lanes, 100, end);
  expect(lanes.share(now).room).toEqual({ a: 16 - 1 });
  endFirst(end);
  const later = (ms: number) => new Date(now.getTime() + ms);
  // Jobs that end together leave nothing in flight, and may leave a backlog.
  expect(lanes.share(later(999)).room).toEqual({ a: 16 });
  expect(lanes.share(later(1_000)).room).toEqual({});
});

test("a strained lane narrows to one, then rests for longer each time, and is soon as wide as before", () => {
  const lanes = new Lanes(16);
  const now = lab.now();
  const later = (ms: number) => new Date(now.getTime() + ms);
  const strained = { isStrained: true, now };
  endJobs(lanes, 2, strained);
  expect(lanes.share(now).room).toEqual({ a: 1 });
  expect(lanes.restEnd(now)).toBe(Number.POSITIVE_INFINITY);
  endJobs(lanes, 1, strained);
  expect(lanes.share(now).room).toEqual({ a: 0 });
  expect(lanes.restEnd(now)).toBe(later(100).getTime());
  expect(lanes.share(later(100)).room).toEqual({ a: 1 });
  expect(lanes.restEnd(later(100))).toBe(Number.POSITIVE_INFINITY);
  endJobs(lanes, 10, strained);
  expect(lanes.restEnd(now)).toBe(later(5_000).getTime());
  expect(lanes.share(later(-60_000)).room).toEqual({ a: 1 });
  endJobs(lanes, 3, { isStrained: false, now });
  expect(lanes.share(later(5_000)).room).toEqual({});
  endJobs(lanes, 4, strained);
  expect(lanes.share(later(59_999)).room).toEqual({ a: 1 });
  expect(lanes.share(later(60_000)).room).toEqual({});
});

test("what ran side by side tells of one trouble, and narrows its lane once", () => {
  const lanes = new Lanes(16);
  const now = lab.now();
  const ends = [1, 2, 3, 4].map(() => lanes.begin("a"));
  for (const end of ends) {
    end({ isStrained: true, now });
  }
  expect(lanes.share(now).room).toEqual({ a: 2 });
});

test("a lane that is strained again and again is tried now and then", async () => {
  const { seen, definition } = noting("a.fail", async (_, { strain }) => {
    strain();
    return undefined;
  });
  const jobs = lab.create([definition]);
  await lab.enqueue(jobs, ...Array.from({ length: 50 }, (_, n) => job("a.fail", n)));
  await jobs.runDue();
  const before = seen.length;
  expect(before).toBeLessThan(8);
  expect(await jobs.runDue()).toBe(0);
  lab.turn(5_000);
  expect(await jobs.runDue()).toBe(1);
});
