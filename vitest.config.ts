/**
 * How the tests run: on the embedded database, and on PostgreSQL the files that depend on the engine. Those that are
 * much faster there run on PostgreSQL alone. With TEST_ALL_ON_POSTGRES every file runs on both, except those
 * about the embedded engine itself.
 *
 * A test reads its engine from TIDINGS_TEST_ENGINE ("embedded" or "postgres"), and on PostgreSQL the
 * address of a server where it may create databases from TEST_DATABASE_URL.
 */
import { Client } from "pg";
import { defineConfig } from "vitest/config";
import { embeddedOnly, engineDependent, fasterOnPostgres } from "./test/support/engine-dependent.ts";

const server = process.env.TEST_DATABASE_URL ?? "postgres://postgres@127.0.0.1:5432/postgres";

const shared = {
  globalSetup: ["test/support/global-setup.ts"],
  pool: "forks" as const,
  // A worker loads the app once, not once for each file: a third of the time of a run.
  isolate: false,
  restoreMocks: true,
  expect: { poll: { timeout: 20_000, interval: 10 } },
  testTimeout: 60_000,
  hookTimeout: 60_000,
};

const everyFile = ["test/**/*.test.ts"];
const isAllOnBoth = Boolean(process.env.TEST_ALL_ON_POSTGRES);

const embedded = {
  ...shared,
  name: "embedded",
  include: everyFile,
  env: { TIDINGS_TEST_ENGINE: "embedded" },
};

const postgres = {
  ...shared,
  name: "postgres",
  include: isAllOnBoth ? everyFile : [...engineDependent, ...fasterOnPostgres],
  exclude: [...embeddedOnly],
  env: { TIDINGS_TEST_ENGINE: "postgres", TEST_DATABASE_URL: server },
};

export default defineConfig(async () => {
  const projects = (await answers(server))
    ? [{ ...embedded, exclude: isAllOnBoth ? [] : [...fasterOnPostgres] }, postgres]
    : [embedded];
  return {
    test: {
      // One more than the cores of a small machine: many tests wait for a process.
      maxWorkers: 3,
      projects: projects.map((test) => ({ test })),
    },
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
