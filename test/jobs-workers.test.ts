/** Several workers on one table, and workers that stop or are killed: nothing is lost, nothing is done twice at once. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { sql } from "kysely";
import { expect, test, vi } from "vitest";
import type { Database } from "../src/database/database.ts";
import type { JobDefinition } from "../src/jobs/job.ts";
import { job, useLab } from "./support/job-lab.ts";

const minute = 60_000;
const killedWorker = fileURLToPath(new URL("./support/killed-worker.ts", import.meta.url));
const lab = useLab();

test("three workers share 2,000 jobs, and none is done twice; of a key, none at once and all in order", async () => {
  const done: number[] = [];
  const keys = new Map<number, number[]>();
  const busy = new Set<number>();
  const definition: JobDefinition<{ n: number; key: number }> = {
    name: "a.b",
    async run({ n, key }) {
      expect(busy.has(key)).toBe(false);
      busy.add(key);
      await delay(Math.random() * 3);
      busy.delete(key);
      done.push(n);
      keys.set(key, [...(keys.get(key) ?? []), n]);
      return undefined;
    },
  };
  const workers = [1, 2, 3].map(() => lab.start([definition]));
  const added = Array.from({ length: 2_000 }, (_, n) => ({ n, key: n % 100 }));
  for (let from = 0; from < 2_000; from += 100) {
    const some = added.slice(from, from + 100);
    await lab.database.transaction(async (tx) => {
      await workers[from % 3]?.enqueue(
        tx,
        ...some.map((one) => job("a.b", one, { key: `k${one.key}`, lane: `l${one.n % 5}` })),
      );
    });
  }
  await lab.isEmpty();
  expect(done.toSorted((a, b) => a - b)).toEqual(added.map(({ n }) => n));
  expect([...keys.values()].every((one) => one.every((n, at) => at === 0 || n > (one[at - 1] ?? 0)))).toBe(
    true,
  );
  expect(await lab.dead()).toEqual([]);
});

test("a job that outlasts its lease stays with its worker", async () => {
  let runs = 0;
  let end = () => {};
  const definition: JobDefinition = {
    name: "a.b",
    leaseMs: 10_000,
    async run() {
      runs += 1;
      await new Promise<void>((resolve) => {
        end = resolve;
      });
      return undefined;
    },
  };
  const [jobs, others] = [lab.create([definition], { pollMs: 20 }), lab.create([definition], { pollMs: 20 })];
  jobs.start();
  others.start();
  await lab.enqueue(jobs, job("a.b"));
  const leasedUntil = async () => Date.parse((await lab.waiting())[0]?.run_at ?? "");
  await vi.waitFor(async () => expect(await leasedUntil()).toBe(lab.now().getTime() + 10_000));
  for (let halves = 0; halves < 5; halves += 1) {
    lab.turn(6_000);
    await vi.waitFor(async () => expect(await leasedUntil()).toBe(lab.now().getTime() + 10_000));
  }
  end();
  await lab.isEmpty();
  expect(runs).toBe(1);
});

test("a worker whose lease was lost takes nothing from the one that has the job now", async () => {
  const ends: (() => void)[] = [];
  const definition: JobDefinition = {
    name: "a.b",
    run: () => new Promise((_, reject) => ends.push(() => reject(new Error("no")))),
  };
  const [first, second] = [lab.create([definition]), lab.create([definition])];
  await lab.enqueue(first, job("a.b"));
  const runs = [first.runDue()];
  await vi.waitFor(() => expect(ends).toHaveLength(1));
  lab.turn(2 * minute);
  runs.push(second.runDue());
  await vi.waitFor(() => expect(ends).toHaveLength(2));
  const before = await lab.waiting();
  ends[0]?.();
  await runs[0];
  expect(await lab.waiting()).toEqual(before);
  ends[1]?.();
  await runs[1];
  expect((await lab.waiting())[0]?.attempts).toBe(2);
});

test("a worker never runs a job, or two of a key, at once: not even when others had the job, or added an earlier one", async () => {
  const begun: unknown[] = [];
  const definition: JobDefinition = {
    name: "a.b",
    run(payload, { signal }) {
      begun.push(payload);
      return delay(minute, undefined, { signal });
    },
  };
  const jobs = lab.start([definition]);
  await lab.enqueue(jobs, job("a.b", "alone"), job("a.b", "second", { key: "k" }));
  await vi.waitFor(() => expect(begun).toHaveLength(2));
  const { queries } = lab.database;
  await sql`update jobs set attempts = 2, run_at = ${new Date(0).toISOString()}`.execute(queries);
  await sql`
    insert into jobs (id, name, lane, key, payload, run_at, created_at)
    select 'job_0', name, lane, key, '"first"', run_at, created_at from jobs where key = 'k'
  `.execute(queries);
  await delay(200);
  expect(begun).toEqual(["alone", "second"]);
});

test("a stop lets what runs end, and begins nothing more", async () => {
  const done: unknown[] = [];
  const definition: JobDefinition = {
    name: "a.b",
    async run(payload) {
      await delay(100);
      done.push(payload);
      return undefined;
    },
  };
  const jobs = lab.start([definition]);
  await lab.enqueue(jobs, ...[1, 2].map((n) => job("a.b", n, { key: "k" })));
  await delay(50);
  await jobs.stop(5_000);
  expect(done).toEqual([1]);
  expect(await lab.waiting()).toHaveLength(1);
});

test("a stop that can't wait aborts: what gives up loses no attempt, what does not is left to its lease", async () => {
  const begun: unknown[] = [];
  const obedient: JobDefinition = {
    name: "a.b",
    run(payload, { signal }) {
      begun.push(payload);
      return delay(minute, undefined, { signal });
    },
  };
  const deaf: JobDefinition = {
    name: "c.d",
    run(payload) {
      begun.push(payload);
      return delay(minute, undefined, { ref: false });
    },
  };
  const jobs = lab.start([obedient, deaf]);
  await lab.enqueue(jobs, job("a.b"), job("c.d"));
  await vi.waitFor(() => expect(begun).toHaveLength(2));
  const start = Date.now();
  await jobs.stop(50);
  expect(Date.now() - start).toBeLessThan(1_500);
  const [first, second] = await lab.waiting();
  expect([first?.attempts, second?.attempts]).toEqual([0, 1]);
  expect(Date.parse(first?.run_at ?? "")).toBeLessThanOrEqual(Date.now());
  expect(Date.parse(second?.run_at ?? "")).toBeGreaterThan(Date.now() + minute / 2);
});

test("an outage of the database is told once and outlasted, and what ended meanwhile is not done again", async () => {
  let isAway = false;
  let runs = 0;
  const flaky: Database = {
    ...lab.database,
    transaction: (transact) =>
      isAway ? Promise.reject(new Error("away")) : lab.database.transaction(transact),
  };
  const definition: JobDefinition = {
    name: "a.b",
    async run() {
      runs += 1;
      isAway = true;
      return undefined;
    },
  };
  const jobs = lab.start([definition], { database: flaky });
  await lab.enqueue(jobs, job("a.b"));
  await vi.waitFor(() => expect(lab.said).toHaveLength(1));
  await delay(400);
  isAway = false;
  await lab.isEmpty();
  expect([runs, lab.said.length]).toEqual([1, 1]);
});

test("workers that are killed lose nothing: every job is done, after its lease by another", async () => {
  const all = Array.from({ length: 1_500 }, (_, n) => n);
  const noted = join(lab.address.dataDir, "noted");
  await writeFile(noted, "");
  const read = async () => (await readFile(noted, "utf8")).split("\n").filter(Boolean).map(Number);
  const adder = lab.create([{ name: "a.b", run: async () => undefined }], { now: () => new Date() });
  await lab.enqueue(adder, ...all.map((n) => job("a.b", n, n % 3 === 0 ? { key: `k${n % 30}` } : {})));

  await lab.lend(async () => {
    for (const enough of [200, 500, 800]) {
      const child = spawn(
        process.execPath,
        ["--import", "tsx", killedWorker, JSON.stringify(lab.address), noted],
        {
          stdio: ["ignore", "ignore", "inherit"],
        },
      );
      await vi.waitFor(async () => expect((await read()).length).toBeGreaterThan(enough), {
        timeout: 40_000,
        interval: 5,
      });
      child.kill("SIGKILL");
      await once(child, "exit");
    }
  });

  const left = await lab.waiting();
  expect(left.filter(({ attempts }) => attempts > 0).length).toBeGreaterThan(0);
  const again: number[] = [];
  lab.start([{ name: "a.b", leaseMs: 500, run: async (n) => void again.push(Number(n)) }]);
  await lab.isEmpty();
  const done = [...(await read()), ...again];
  expect([...new Set(done)].toSorted((a, b) => a - b)).toEqual(all);
  // What was in flight at a kill is done twice, and nothing else is.
  expect(done.length - all.length).toBeLessThanOrEqual(3 * 16);
  expect(await lab.dead()).toEqual([]);
}, 150_000);
