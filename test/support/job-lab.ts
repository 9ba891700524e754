/** A place to try the job engine in: a database, a clock that is turned by hand, a log that is read. */
import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, beforeEach, expect, vi } from "vitest";
import { openDatabase } from "../../src/database/connect.ts";
import type { Database } from "../../src/database/database.ts";
import type { Attempt, JobDefinition, NewJob, Outcome } from "../../src/jobs/job.ts";
import { createJobs, type JobsOptions, type RunningJobs } from "../../src/jobs/jobs.ts";
import { type FreshDatabase, freshDatabase } from "./database.ts";

/** What opens a database again, in this process or another. */
export interface Address {
  readonly url: string | undefined;
  readonly dataDir: string;
}

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** For a test file: a database of its own, and for each of its tests empty tables, a clock and an ear. */
export function useLab() {
  let fresh: FreshDatabase;
  let address: Address;
  let database: Database;
  let time: number;
  let said: string[];
  let created: RunningJobs[];

  const now = () => new Date(time);
  const say = (_facts: object, message: string) => void said.push(message);
  const log = { ...silent, warn: say, error: say };

  beforeAll(async () => {
    fresh = await freshDatabase();
    address = { url: fresh.env.DATABASE_URL, dataDir: fresh.env.TIDINGS_DATA_DIR ?? "" };
    database = await openDatabase({ ...address, log: silent });
  });

  afterAll(async () => {
    await database[Symbol.asyncDispose]();
    await fresh[Symbol.asyncDispose]();
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
    /** Until every job is done. */
    isEmpty: () =>
      vi.waitFor(
        async () => expect(await database.queries.selectFrom("jobs").select("id").execute()).toEqual([]),
        { timeout: 20_000, interval: 50 },
      ),
    /** Leaves the database to other processes while it runs: the embedded engine has one owner. */
    async lend<Result>(use: () => Promise<Result>): Promise<Result> {
      await database[Symbol.asyncDispose]();
      const result = await use();
      database = await openDatabase({ ...address, log: silent });
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
