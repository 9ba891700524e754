/** A place to try the job engine in: both databases, a clock that is turned by hand, a log that is read. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, expect, vi } from "vitest";
import { openDatabase } from "../../src/database/connect.ts";
import type { Database } from "../../src/database/database.ts";
import { migrate } from "../../src/database/migrate.ts";
import type { Attempt, JobDefinition, NewJob, Outcome } from "../../src/jobs/job.ts";
import { createJobs, type JobsOptions, type RunningJobs } from "../../src/jobs/jobs.ts";

const server = process.env.TEST_DATABASE_URL ?? "postgres://postgres@127.0.0.1:5432/postgres";

/** What opens a database again, in this process or another. */
export interface Address {
  readonly url: string | undefined;
  readonly dataDir: string;
}

const silent = { debug() {}, info() {}, warn() {}, error() {} };

export const open = (address: Address): Promise<Database> => openDatabase({ ...address, log: silent });

/** A new database of its own, and how it is removed. */
async function createDatabase(): Promise<Address & { remove(): Promise<void> }> {
  const dataDir = await mkdtemp(join(tmpdir(), "tidings-jobs-"));
  const remove = () => rm(dataDir, { recursive: true });
  if (process.env.TIDINGS_TEST_ENGINE !== "postgres") {
    await prepare({ url: undefined, dataDir });
    return { url: undefined, dataDir, remove };
  }
  const name = `tidings_jobs_${process.pid}_${Date.now()}`;
  await administer(`create database ${name}`);
  const url = new URL(`/${name}`, server).href;
  await prepare({ url, dataDir });
  return { url, dataDir, remove: () => administer(`drop database ${name} with (force)`).then(remove) };
}

/** For a test file: a database of its own, and for each of its tests empty tables, a clock and an ear. */
export function useLab() {
  let address: Address & { remove(): Promise<void> };
  let database: Database;
  let time: number;
  let said: string[];
  let created: RunningJobs[];

  const now = () => new Date(time);
  const say = (_facts: object, message: string) => void said.push(message);
  const log = { ...silent, warn: say, error: say };

  beforeAll(async () => {
    address = await createDatabase();
    database = await open(address);
  });

  afterAll(async () => {
    await database[Symbol.asyncDispose]();
    await address.remove();
  });

  beforeEach(async () => {
    await sql`truncate jobs, dead_jobs`.execute(database.queries);
    [time, said, created] = [Date.parse("2026-03-01T10:00:00.000Z"), [], []];
  });

  afterEach(async () => {
    await Promise.all(created.map((jobs) => jobs.stop(0)));
  });

  const create = (definitions: readonly JobDefinition[], options: Partial<JobsOptions> = {}): RunningJobs => {
    const jobs = createJobs({ database, now, definitions, log, ...options });
    created.push(jobs);
    return jobs;
  };

  return {
    now,
    create,
    get address() {
      return address;
    },
    get database() {
      return database;
    },
    get said() {
      return said;
    },
    turn(ms: number) {
      time += ms;
    },
    /** One that runs by the real time, and looks often. */
    start(definitions: readonly JobDefinition[], options: Partial<JobsOptions> = {}): RunningJobs {
      const jobs = create(definitions, { now: () => new Date(), pollMs: 20, ...options });
      jobs.start();
      return jobs;
    },
    enqueue: (jobs: RunningJobs, ...added: readonly NewJob[]) =>
      database.transaction((tx) => jobs.enqueue(tx, ...added)),
    waiting: () => database.queries.selectFrom("jobs").selectAll().orderBy("id").execute(),
    dead: () => database.queries.selectFrom("dead_jobs").selectAll().orderBy("id").execute(),
    isEmpty: () =>
      vi.waitFor(
        async () => expect(await database.queries.selectFrom("jobs").select("id").execute()).toEqual([]),
        {
          timeout: 20_000,
          interval: 50,
        },
      ),
    /** Leaves the database to other processes while it runs: the embedded engine has one owner. */
    async lend<Result>(use: () => Promise<Result>): Promise<Result> {
      await database[Symbol.asyncDispose]();
      const result = await use();
      database = await open(address);
      return result;
    },
  };
}

/** A job with the least that it needs. */
export const job = (name: string, payload: unknown = null, rest: Partial<NewJob> = {}): NewJob => ({
  name,
  payload,
  organization_id: null,
  ...rest,
});

/** A definition that notes its payloads, and does what it is told. */
export function noting(
  name: string,
  work?: (payload: unknown, attempt: Attempt) => Promise<Outcome>,
  rest?: Partial<JobDefinition>,
) {
  const seen: unknown[] = [];
  const definition: JobDefinition = {
    name,
    async run(payload, attempt) {
      seen.push(payload);
      return work?.(payload, attempt);
    },
    ...rest,
  };
  return { seen, definition };
}

async function prepare(address: Address): Promise<void> {
  await using database = await open(address);
  await migrate(database);
  await sql`vacuum analyze jobs`.execute(database.queries);
}

async function administer(statement: string): Promise<void> {
  const client = new pg.Client(server);
  await client.connect();
  await client.query(statement);
  await client.end();
}
