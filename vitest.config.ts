/**
 * How the tests run: on PostgreSQL if a server answers, and those that are tagged `both` on the embedded database too.
 * Without a server every test runs on the embedded database. With SOAK, every test runs on both.
 *
 * A test reads its engine from TIDINGS_TEST_ENGINE ("embedded" or "postgres"), and on PostgreSQL the
 * address of a server where it may create databases from TEST_DATABASE_URL.
 */
import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { defineConfig } from "vitest/config";
import { SummaryReporter } from "./test/support/summary-reporter.ts";

const server = process.env.TEST_DATABASE_URL ?? "postgres://postgres@127.0.0.1:5432/postgres";
/** TEST_REPORT names a file for the results as JSON. */
const reports: [string, { outputFile: string }][] = process.env.TEST_REPORT
  ? [["json", { outputFile: process.env.TEST_REPORT }]]
  : [];

const include = ["test/**/*.test.ts", "emulator/test/*.test.ts"];

const shared = {
  globalSetup: ["test/support/global-setup.ts"],
  setupFiles: ["test/support/check-rows.ts"],
  pool: "forks" as const,
  // A worker loads the app once, not once for each file: a third of the time of a run.
  isolate: false,
  restoreMocks: true,
  expect: { poll: { timeout: 20_000, interval: 10 } },
  testTimeout: 60_000,
  hookTimeout: 60_000,
};

const tags = [
  {
    name: "both",
    description: "Also runs on the embedded database: its result may differ between the engines.",
  },
  { name: "embedded", description: "Runs on the embedded database alone." },
  { name: "postgres", description: "Runs on PostgreSQL alone." },
];

const postgres = {
  ...shared,
  name: "postgres",
  include,
  env: { TIDINGS_TEST_ENGINE: "postgres", TEST_DATABASE_URL: server },
  tags,
  tagsFilter: ["!embedded"],
};

const embedded = {
  ...shared,
  name: "embedded",
  env: { TIDINGS_TEST_ENGINE: "embedded" },
  tags,
  include,
  tagsFilter: ["!postgres"],
};

/** The embedded project beside PostgreSQL. Files without a tagged test are not loaded. */
const embeddedBeside = {
  ...embedded,
  include: listTests().filter((file) =>
    /(tags: "|@module-tag )(both|embedded)/.test(readFileSync(file, "utf8")),
  ),
  tagsFilter: ["(both || embedded) && !postgres"],
};

export default defineConfig(async () => {
  const hasServer = await answers(server);
  const runsAll = Boolean(process.env.SOAK) || process.argv.includes("--project");
  const projects = [hasServer && !runsAll ? embeddedBeside : embedded, ...(hasServer ? [postgres] : [])];
  return {
    test: {
      // One more than the cores: many tests wait for a process.
      maxWorkers: availableParallelism() + 1,
      reporters: ["default", new SummaryReporter(), ...reports],
      // A file is transformed again only when it has changed: without it, each run begins with several seconds of it.
      experimental: { fsModuleCache: true },
      // The summary names the slowest tests.
      slowTestThreshold: 5_000,
      projects: projects.map((test) => ({ test })),
    },
  };
});

function listTests(): string[] {
  return ["test", "emulator/test"].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".test.ts"))
      .map((file) => join(folder, file)),
  );
}

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
