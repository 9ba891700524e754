/**
 * Several workers on one table, and workers that stop or are killed: no job is lost or runs twice at once.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay, setImmediate as yieldToOthers } from "node:timers/promises";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import type { Database } from "../src/database/database.ts";
import type { JobDefinition } from "../src/jobs/job.ts";
import { silentLog } from "./support/app.ts";
import { bundleProgram } from "./support/bundle.ts";
import { iterations } from "./support/iterations.ts";
import { anyPayload, makeJob, useJobsFixture } from "./support/jobs-fixture.ts";
import { meanwhile } from "./support/meanwhile.ts";

const minute = 60_000;
const fixture = useJobsFixture({ hasOtherProcesses: true });

test("three workers run each of 2,000 jobs once; jobs of one key run in order, never at once", {
  tags: "both",
}, async () => {
  const done: number[] = [];
  const keys = new Map<number, number[]>();
  const busy = new Set<number>();
  const overlapping: number[] = [];
  const definition: JobDefinition<{ n: number; key: number }> = {
    name: "a.b",
    payload: z.object({ n: z.number(), key: z.number() }),
    async run({ n, key }) {
      if (busy.has(key)) {
        overlapping.push(n);
      }
      busy.add(key);
      // So that jobs end in another order than they start.
      for (let turns = n % 3; turns > 0; turns -= 1) {
        await yieldToOthers();
      }
      busy.delete(key);
      done.push(n);
      keys.set(key, [...(keys.get(key) ?? []), n]);
      return undefined;
    },
  };
  const workers = [1, 2, 3].map(() => fixture.start([definition]));
  const added = Array.from({ length: 2_000 }, (_, n) => ({ n, key: n % 100 }));
  for (let from = 0; from < 2_000; from += 100) {
    const batch = added.slice(from, from + 100);
    await fixture.database.transaction(async (tx) => {
      await workers[from % 3]?.enqueue(
        tx,
        batch.map((payload) =>
          makeJob("a.b", payload, { key: `k${payload.key}`, lane: `l${payload.n % 5}` }),
        ),
      );
    });
  }
  await fixture.waitUntilEmpty();
  expect(overlapping).toEqual([]);
  expect(done.toSorted((a, b) => a - b)).toEqual(added.map(({ n }) => n));
  expect([...keys.values()].every((runs) => runs.every((n, at) => at === 0 || n > (runs[at - 1] ?? 0)))).toBe(
    true,
  );
  expect(await fixture.dead()).toEqual([]);
});

test("the lease of a running job is renewed, so no other worker takes it", async () => {
  let runs = 0;
  let end = () => {};
  const definition: JobDefinition = {
    name: "a.b",
    payload: anyPayload,
    leaseMs: 10_000,
    async run() {
      runs += 1;
      await new Promise<void>((resolve) => {
        end = resolve;
      });
      return undefined;
    },
  };
  const [jobs, others] = [
    fixture.create([definition], { pollMs: 20 }),
    fixture.create([definition], { pollMs: 20 }),
  ];
  jobs.start();
  others.start();
  await fixture.enqueue(jobs, makeJob("a.b"));
  const leasedUntil = async () => Date.parse((await fixture.waiting())[0]?.run_at ?? "");
  await expect.poll(leasedUntil).toBe(fixture.now().getTime() + 10_000);
  for (let halves = 0; halves < 5; halves += 1) {
    fixture.advance(6_000);
    await expect.poll(leasedUntil).toBe(fixture.now().getTime() + 10_000);
  }
  end();
  await fixture.waitUntilEmpty();
  expect(runs).toBe(1);
});

test("a worker that lost its lease changes nothing of the job that another worker runs", async () => {
  const ends: (() => void)[] = [];
  const definition: JobDefinition = {
    name: "a.b",
    payload: anyPayload,
    run: () => new Promise((_, reject) => ends.push(() => reject(new Error("no")))),
  };
  const [first, second] = [fixture.create([definition]), fixture.create([definition])];
  await fixture.enqueue(first, makeJob("a.b"));
  const firstRun = first.runDue();
  await meanwhile(firstRun, async () => {
    await expect.poll(() => ends).toHaveLength(1);
    fixture.advance(2 * minute);
    await meanwhile(second.runDue(), async () => {
      await expect.poll(() => ends).toHaveLength(2);
      const before = await fixture.waiting();
      ends[0]?.();
      await firstRun;
      expect(await fixture.waiting()).toEqual(before);
      ends[1]?.();
    });
  });
  expect((await fixture.waiting())[0]?.attempts).toBe(2);
});

test("a worker never runs the same job or key twice at once, even if its leases expired or an earlier job appears", {
  tags: "both",
}, async () => {
  const started: unknown[] = [];
  const definition: JobDefinition = {
    name: "a.b",
    payload: anyPayload,
    run(payload, { signal }) {
      started.push(payload);
      return delay(minute, undefined, { signal });
    },
  };
  let polls = 0;
  const database: Database = {
    ...fixture.database,
    async transaction(transact) {
      const result = await fixture.database.transaction(transact);
      polls += 1;
      return result;
    },
  };
  const jobs = fixture.start([definition], { database });
  await fixture.enqueue(jobs, makeJob("a.b", "alone"), makeJob("a.b", "second", { key: "k" }));
  await expect.poll(() => started).toHaveLength(2);
  const { queries } = fixture.database;
  await sql`update jobs set attempts = 2, run_at = ${new Date(0).toISOString()}`.execute(queries);
  await sql`
    insert into jobs (id, name, lane, key, payload, run_at, created_at)
    select 'job_0', name, lane, key, '"first"', run_at, created_at from jobs where key = 'k'
  `.execute(queries);
  const before = polls;
  // The first of these may have begun before the update.
  await expect.poll(() => polls).toBeGreaterThan(before + 2);
  expect(started).toEqual(["alone", "second"]);
});

test("a stop waits for running jobs and starts no more", async () => {
  const done: unknown[] = [];
  const ends: (() => void)[] = [];
  const definition: JobDefinition = {
    name: "a.b",
    payload: anyPayload,
    async run(payload) {
      await new Promise<void>((resolve) => ends.push(resolve));
      done.push(payload);
      return undefined;
    },
  };
  const jobs = fixture.start([definition]);
  await fixture.enqueue(jobs, ...[1, 2].map((n) => makeJob("a.b", n, { key: "k" })));
  await expect.poll(() => ends).toHaveLength(1);
  const stopped = jobs.stop(minute);
  ends[0]?.();
  await stopped;
  expect(done).toEqual([1]);
  expect(await fixture.waiting()).toHaveLength(1);
});

test("after the grace period jobs are aborted: those that end keep their attempt, the others keep their lease", async () => {
  const started: unknown[] = [];
  const abortable: JobDefinition = {
    name: "a.b",
    payload: anyPayload,
    run(payload, { signal }) {
      started.push(payload);
      return delay(minute, undefined, { signal });
    },
  };
  const unabortable: JobDefinition = {
    name: "c.d",
    payload: anyPayload,
    run(payload) {
      started.push(payload);
      return delay(minute, undefined, { ref: false });
    },
  };
  const jobs = fixture.create([abortable, unabortable], { pollMs: 20 });
  jobs.start();
  await fixture.enqueue(jobs, makeJob("a.b"), makeJob("c.d"));
  await expect.poll(() => started).toHaveLength(2);
  await jobs.stop(0);
  const [first, second] = await fixture.waiting();
  const leaseEnd = new Date(fixture.now().getTime() + minute).toISOString();
  expect(first).toMatchObject({ attempts: 0, run_at: fixture.now().toISOString() });
  expect(second).toMatchObject({ attempts: 1, run_at: leaseEnd });
});

test("an outage of the database is logged once by each worker and survived, and jobs that ended during it do not run again", {
  tags: "both",
}, async () => {
  let isDown = false;
  let runs = 0;
  let failures = 0;
  const flaky: Database = {
    ...fixture.database,
    async transaction(transact) {
      if (isDown) {
        failures += 1;
        throw new Error("down");
      }
      return await fixture.database.transaction(transact);
    },
  };
  const definition: JobDefinition = {
    name: "a.b",
    payload: anyPayload,
    async run() {
      runs += 1;
      isDown = true;
      return undefined;
    },
  };
  const logged: unknown[] = [];
  const record = (facts: object) => void logged.push(facts);
  const log = { ...silentLog, warn: record, error: record };
  const jobs = fixture.start([definition], { database: flaky, log });
  await fixture.enqueue(jobs, makeJob("a.b"));
  await expect.poll(() => failures).toBeGreaterThanOrEqual(3);
  await expect.poll(() => logged.length).toBe(2);
  isDown = false;
  await fixture.waitUntilEmpty();
  expect(runs).toBe(1);
  const line = (priority: string) => expect.objectContaining({ priority });
  expect(logged).toEqual(expect.arrayContaining([line("normal"), line("bulk")]));
  expect(logged).toHaveLength(2);
});

test("killed workers lose no job: another worker runs it after its lease", async () => {
  await using worker = await bundleProgram("test/support/crash-worker.ts");
  const minima = [200, 500, 800].slice(0, iterations(2, 3));
  const all = Array.from({ length: iterations(1_000, 1_500) }, (_, n) => n);
  const logFile = join(fixture.address.dataDir, "log");
  await writeFile(logFile, "");
  const read = async () => (await readFile(logFile, "utf8")).split("\n").filter(Boolean).map(Number);
  const adder = fixture.create([{ name: "a.b", payload: anyPayload, run: async () => undefined }], {
    now: () => new Date(),
  });
  await fixture.enqueue(
    adder,
    ...all.map((n) => makeJob("a.b", n, n % 3 === 0 ? { key: `k${n % 30}` } : {})),
  );

  await fixture.releaseDatabase(async () => {
    const runs = 250;
    for (let kills = 1; kills <= iterations(2, 3); kills += 1) {
      const child = spawn(
        process.execPath,
        [worker.path, JSON.stringify(fixture.address), logFile, String(runs)],
        { stdio: ["ignore", "ignore", "inherit"] },
      );
      onTestFinished(() => void child.kill("SIGKILL"));
      await expect.poll(async () => (await read()).length, { timeout: 40_000 }).toBe(kills * runs);
      child.kill("SIGKILL");
      await once(child, "exit");
    }
  });

  const remaining = await fixture.waiting();
  expect(remaining.filter(({ attempts }) => attempts > 0).length).toBeGreaterThan(0);
  const repeated: number[] = [];
  fixture.start([
    { name: "a.b", payload: anyPayload, leaseMs: 500, run: async (n) => void repeated.push(Number(n)) },
  ]);
  await fixture.waitUntilEmpty();
  const done = [...(await read()), ...repeated];
  expect([...new Set(done)].toSorted((a, b) => a - b)).toEqual(all);
  // Only jobs that ran at a kill run twice.
  expect(done.length - all.length).toBeLessThanOrEqual(minima.length * 16);
  expect(await fixture.dead()).toEqual([]);
}, 150_000);
