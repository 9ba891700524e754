/** The fixture of the job tests: a database, a clock that the test advances, processes, and the log messages. */
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { openDatabase } from "../../src/database/connect.ts";
import type { Database } from "../../src/database/database.ts";
import type { Attempt, JobDefinition, NewJob, Outcome } from "../../src/jobs/job.ts";
import { createJobs, type JobsOptions, type RunningJobs } from "../../src/jobs/jobs.ts";
import { Processes, type ProcessesOptions } from "../../src/jobs/processes/index.ts";
import { Poller, type PollerOptions } from "../../src/jobs/worker/poller.ts";
import { createTestDatabase, lendTestDatabase, queryOf, type TestDatabase } from "./database.ts";
import { emptyTables } from "./empty-database.ts";

/** Opens the same database again, in this process or another. */
export interface DatabaseAddress {
  readonly url: string | undefined;
  readonly dataDir: string;
}

const silent = { debug() {}, info() {}, warn() {}, error() {} };

interface FixtureOptions {
  /** Whether other processes open the database, so that the test closes it; by default it stays open. */
  readonly hasOtherProcesses?: boolean;
}

/** A database for each test file; empty tables, a new clock and a new log for each test. */
export function useJobsFixture({ hasOtherProcesses = false }: FixtureOptions = {}) {
  let lent: TestDatabase;
  let address: DatabaseAddress;
  let database: Database;
  let time: number;
  let logged: string[];
  let created: RunningJobs[];

  const now = () => new Date(time);
  const record = (_facts: object, message: string) => void logged.push(message);
  const log = { ...silent, warn: record, error: record };

  beforeAll(async () => {
    lent = hasOtherProcesses ? await createTestDatabase() : await lendTestDatabase();
    address = { url: lent.env.DATABASE_URL, dataDir: lent.env.TIDINGS_DATA_DIR ?? "" };
    database = lent.opened ?? (await openDatabase({ ...address, log: silent }));
  });

  afterAll(async () => {
    await database[Symbol.asyncDispose]();
    await lent[Symbol.asyncDispose]();
  });

  beforeEach(async () => {
    await emptyTables(queryOf(database), ["jobs", "dead_jobs", "paced_lanes", "processes"]);
    [time, logged, created] = [Date.parse("2026-03-01T10:00:00.000Z"), [], []];
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
    /** The poller of a worker that is not started. */
    createPoller: (definition: JobDefinition, options: Partial<PollerOptions> = {}) =>
      new Poller({
        database,
        now,
        log,
        priority: "normal",
        processes: undefined,
        concurrency: 32,
        pollMs: 3_600_000,
        definitions: new Map([[definition.name, definition]]),
        signal: new AbortController().signal,
        prepare: async () => undefined,
        delay: async () => undefined,
        onEnd: () => undefined,
        ...options,
      }),
    get address() {
      return address;
    },
    get database() {
      return database;
    },
    get logged() {
      return logged;
    },
    advance(ms: number) {
      time += ms;
    },
    /** Uses the real time and a short poll interval. */
    start(definitions: readonly JobDefinition[], options: Partial<JobsOptions> = {}): RunningJobs {
      const jobs = create(definitions, { now: () => new Date(), pollMs: 20, ...options });
      jobs.start();
      return jobs;
    },
    /** One of several processes on the database, whatever the engine. */
    createProcess: (options: Partial<ProcessesOptions> = {}) =>
      new Processes({ database, now, log, isAlone: false, ...options }),
    enqueue: (jobs: RunningJobs, ...added: readonly NewJob[]) =>
      database.transaction((tx) => jobs.enqueue(tx, added)),
    waiting: () => database.queries.selectFrom("jobs").selectAll().orderBy("id").execute(),
    dead: () => database.queries.selectFrom("dead_jobs").selectAll().orderBy("id").execute(),
    /** Waits until the table is empty. */
    waitUntilEmpty: () =>
      expect
        .poll(() => database.queries.selectFrom("jobs").select("id").execute(), { timeout: 20_000 })
        .toEqual([]),
    /** Closes the database while `use` runs: only one process can open the embedded engine. */
    async releaseDatabase<Result>(use: () => Promise<Result>): Promise<Result> {
      await database[Symbol.asyncDispose]();
      const result = await use();
      database = await openDatabase({ ...address, log: silent });
      return result;
    },
  };
}

/** A job with its required fields. */
export const makeJob = (name: string, payload: unknown = null, rest: Partial<NewJob> = {}): NewJob => ({
  name,
  payload,
  organization_id: null,
  ...rest,
});

/** Accepts every payload. */
export const anyPayload: JobDefinition["payload"] = { safeParse: (data) => ({ success: true, data }) };

/** A definition that records the payloads of its runs. */
export function recordRuns(
  name: string,
  run?: (payload: unknown, attempt: Attempt) => Promise<Outcome>,
  rest?: Partial<JobDefinition>,
) {
  const runs: unknown[] = [];
  const definition: JobDefinition = {
    name,
    payload: anyPayload,
    async run(payload, attempt) {
      runs.push(payload);
      return run?.(payload, attempt);
    },
    ...rest,
  };
  return { runs, definition };
}
