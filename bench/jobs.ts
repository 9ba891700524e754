/**
 * Jobs enqueued and completed per second, and the latency from commit to handler, on both databases.
 *
 * The handler is empty, so only the queue is measured. About 20 s in total.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { z } from "zod";
import { openDatabase } from "../src/database/connect.ts";
import type { Database } from "../src/database/database.ts";
import { migrate } from "../src/database/migrate.ts";
import { createJobs } from "../src/jobs/jobs.ts";
import { analyze } from "./support/analyze.ts";

/** A server on which the bench can create a database. */
const server = "postgres://postgres@127.0.0.1:5432/postgres";
const log = { debug() {}, info() {}, warn() {}, error: console.error };
const batch = 500;
const single = 500;

await embedded(measure);
await postgres(measure);

async function measure(database: Database): Promise<void> {
  console.log(`\n${database.engine}`);
  await database.transaction(async () => undefined);
  const few = await measureThroughput(database, 20_000, () => "one");
  const lanes = await measureThroughput(database, 20_000, (n) => `lane ${n % 50}`);
  const keyed = await measureThroughput(
    database,
    20_000,
    (n) => `lane ${n % 50}`,
    (n) => `key ${n % 5_000}`,
  );
  const many = await measureThroughput(database, 100_000, (n) => `lane ${n % 50}`);
  report("added, batches of 500", many.added);
  report("done, 20,000 in one lane", few.done);
  report("done, 20,000 in 50 lanes", lanes.done);
  report("done, 20,000 in 50 lanes, 5,000 keys", keyed.done);
  report("done, 100,000 in 50 lanes", many.done);
  await measureLatency(database);
}

/** Enqueues jobs, then runs them. @returns jobs per second of both. */
async function measureThroughput(
  database: Database,
  count: number,
  lane: (n: number) => string,
  key?: (n: number) => string,
) {
  const worker = createWorker(database);
  await using jobs = worker.jobs;
  const all = Array.from({ length: count }, (_, n) => ({
    name: "bench.empty",
    payload: { n },
    organization_id: null,
    lane: lane(n),
    ...(key && { key: key(n) }),
  }));
  const added = await timed(async () => {
    for (let from = 0; from < count; from += batch) {
      await database.transaction((tx) => jobs.enqueue(tx, all.slice(from, from + batch)));
    }
  });
  await analyze(database.queries);
  const done = await timed(() => {
    jobs.start();
    return worker.reaches(count);
  });
  return { added: (count / added) * 1_000, done: (count / done) * 1_000 };
}

/** Latency from commit to handler, one job after the other in an idle app. */
async function measureLatency(database: Database): Promise<void> {
  const worker = createWorker(database);
  await using jobs = worker.jobs;
  jobs.start();
  const times: number[] = [];
  for (let n = 1; n <= single; n += 1) {
    await database.transaction((tx) =>
      jobs.enqueue(tx, [{ name: "bench.empty", payload: n, organization_id: null }]),
    );
    times.push(await timed(() => worker.reaches(n)));
    await delay(5);
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(share * times.length)]?.toFixed(1);
  console.log(`  commit to handler, idle            p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`);
}

function createWorker(database: Database) {
  let done = 0;
  let onDone = () => {};
  const run = async () => {
    done += 1;
    onDone();
    return undefined;
  };
  return {
    jobs: createJobs({
      database,
      now: () => new Date(),
      definitions: [{ name: "bench.empty", payload: z.unknown(), run }],
      log,
    }),
    reaches: (count: number) =>
      new Promise<void>((resolve) => {
        onDone = () => done >= count && resolve();
        onDone();
      }),
  };
}

async function embedded(use: (database: Database) => Promise<void>): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), "tidings-bench-"));
  await open(undefined, dataDir, use);
  await rm(dataDir, { recursive: true });
}

async function postgres(use: (database: Database) => Promise<void>): Promise<void> {
  const client = new pg.Client(server);
  try {
    await client.connect();
  } catch {
    console.log(`\npostgres: skipped, none at ${server}`);
    return;
  }
  const name = `tidings_bench_${process.pid}`;
  await client.query(`create database ${name}`);
  await open(new URL(`/${name}`, server).href, "", use);
  await client.query(`drop database ${name} with (force)`);
  await client.end();
}

async function open(
  url: string | undefined,
  dataDir: string,
  use: (database: Database) => Promise<void>,
): Promise<void> {
  await using database = await openDatabase({ url, dataDir, log });
  await migrate(database);
  await use(database);
}

async function timed(run: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

function report(what: string, rate: number): void {
  console.log(`  ${what.padEnd(36)}${Math.round(rate).toLocaleString("en").padStart(8)} jobs/s`);
}
