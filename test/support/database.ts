/** Creates a separate database for each app: a copy of the test run's template. */
import { randomBytes } from "node:crypto";
import { cpSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject } from "vitest";
import { runOnServer, withDatabase } from "./postgres.ts";

export interface TestDatabase extends AsyncDisposable {
  /** The settings that select it. */
  readonly env: Readonly<Record<string, string>>;
}

export async function createTestDatabase(): Promise<TestDatabase> {
  const dataDir = await mkdtemp(join(tmpdir(), "tidings-test-"));
  const removeFolder = () => rm(dataDir, { recursive: true, force: true });
  const server = process.env.TEST_DATABASE_URL;
  if (process.env.TIDINGS_TEST_ENGINE !== "postgres" || server === undefined) {
    // The asynchronous copy takes more than twice as long for a thousand files.
    cpSync(inject("template"), dataDir, { recursive: true });
    return { env: { TIDINGS_DATA_DIR: dataDir }, [Symbol.asyncDispose]: removeFolder };
  }
  const name = `tidings_test_${randomBytes(6).toString("hex")}`;
  await runOnServer(server, `create database ${name} template ${inject("template")}`);
  return {
    env: { TIDINGS_DATA_DIR: dataDir, DATABASE_URL: withDatabase(server, name) },
    async [Symbol.asyncDispose]() {
      await runOnServer(server, `drop database ${name} with (force)`);
      await removeFolder();
    },
  };
}
