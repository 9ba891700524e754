/**
 * How the tests run: on PostgreSQL if one answers, where an app starts several times as fast, and on the embedded database
 * the files that depend on the engine. Without PostgreSQL every file runs on the embedded database. With
 * TEST_ALL_ON_BOTH, or if a project is named on the command line, each has every file, except that those about the embedded
 * engine itself never run on PostgreSQL.
 *
 * A test reads its engine from TIDINGS_TEST_ENGINE ("embedded" or "postgres"), and on PostgreSQL the
 * address of a server where it may create databases from TEST_DATABASE_URL.
 */
import { Client } from "pg";
import { defineConfig } from "vitest/config";
import { embeddedOnly, engineDependent } from "./test/support/engine-dependent.ts";

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
const isAllOnBoth = Boolean(process.env.TEST_ALL_ON_BOTH) || process.argv.includes("--project");

const embedded = {
  ...shared,
  name: "embedded",
  env: { TIDINGS_TEST_ENGINE: "embedded" },
};

const postgres = {
  ...shared,
  name: "postgres",
  include: everyFile,
  exclude: [...embeddedOnly],
  env: { TIDINGS_TEST_ENGINE: "postgres", TEST_DATABASE_URL: server },
};

export default defineConfig(async () => {
  const hasServer = await answers(server);
  const include = hasServer && !isAllOnBoth ? [...embeddedOnly, ...engineDependent] : everyFile;
  const projects = [{ ...embedded, include }, ...(hasServer ? [postgres] : [])];
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
