/**
 * How the tests run: the same files on the embedded database and on PostgreSQL.
 *
 * A test learns its engine from TIDINGS_TEST_ENGINE ("embedded" or "postgres"), and on PostgreSQL the
 * address of a server where it may create databases from TEST_DATABASE_URL.
 */
import { Client } from "pg";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const server = process.env.TEST_DATABASE_URL ?? "postgres://postgres@127.0.0.1:5432/postgres";

/** Files that open no database, or prove nothing of it: once is enough. A file that is missing here runs twice, which is harmless. */
const withoutDatabase = [
  "test/client.test.ts",
  "test/config.test.ts",
  "test/docs.test.ts",
  "test/data-folder.test.ts",
  "test/architecture.test.ts",
  "test/journeys/listen.test.ts",
  "test/journeys/lazy-telemetry.test.ts",
  "test/mcp-*.test.ts",
  "test/message-states.test.ts",
  "test/packaging.test.ts",
  "test/query*.test.ts",
  "test/tools.test.ts",
  "test/simulator*.test.ts",
  "test/scopes.test.ts",
  "test/specification.test.ts",
  "test/traces.test.ts",
  "test/web-*.test.ts",
  "test/webhook-schedule.test.ts",
];

/** What waits for processes and leases goes first, beside everything else; at the end nothing would be beside it. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => moduleId.includes("/journeys/");
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

const shared = {
  include: ["test/**/*.test.ts"],
  globalSetup: ["test/support/global-setup.ts"],
  pool: "forks" as const,
  // One more than the cores that a small machine has: many a test waits for a process or for the clock.
  maxWorkers: 3,
  // A worker loads the house once, not once for each file: a third of the time of a run. No file leaves anything behind in it.
  isolate: false,
  testTimeout: 30_000,
  hookTimeout: 60_000,
};

const embedded = { ...shared, name: "embedded", env: { TIDINGS_TEST_ENGINE: "embedded" } };

const postgres = {
  ...shared,
  name: "postgres",
  exclude: withoutDatabase,
  env: { TIDINGS_TEST_ENGINE: "postgres", TEST_DATABASE_URL: server },
};

export default defineConfig(async () => {
  const projects = (await answers(server)) ? [embedded, postgres] : [embedded];
  const { maxWorkers } = shared;
  return {
    test: { maxWorkers, sequence: { sequencer: LongestFirst }, projects: projects.map((test) => ({ test })) },
  };
});

/** Whether PostgreSQL answers; if not, its project is left out, with one line that says so. */
async function answers(connectionString: string): Promise<boolean> {
  const client = new Client({ connectionString, connectionTimeoutMillis: 2_000 });
  try {
    await client.connect();
    await client.end();
    return true;
  } catch (error) {
    const { host, port } = client;
    const reason = error instanceof Error ? error.message : String(error);
    console.error(`Skipped on PostgreSQL: none at ${host}:${port} (${reason}). Set TEST_DATABASE_URL.`);
    return false;
  }
}
