/** Starts services as separate processes on a fresh database per test, and stops them after it. */
import { afterEach, beforeEach } from "vitest";
import { type Client, createClient } from "../../src/client/index.ts";
import { ownerKey } from "./app.ts";
import { createTestDatabase, type TestDatabase } from "./database.ts";
import { startProcess, type TidingsProcess } from "./process.ts";

export interface ServedProcess {
  readonly process: TidingsProcess;
  readonly address: string;
  readonly client: Client;
}

/** Call this at the top of a test file. */
export function useProcesses() {
  let database: TestDatabase;
  let running: TidingsProcess[];
  beforeEach(async () => {
    database = await createTestDatabase();
    running = [];
  });
  afterEach(async () => {
    await Promise.all(running.map((process) => process.end("SIGKILL")));
    await database[Symbol.asyncDispose]();
  });
  const start = (args: string[], settings: Readonly<Record<string, string>> = {}): TidingsProcess => {
    const process = startProcess(args, {
      ...database.env,
      ...{ TIDINGS_BOOTSTRAP_KEY: ownerKey, TIDINGS_RATE_LIMIT: "100000" },
      ...settings,
    });
    running.push(process);
    return process;
  };
  return {
    start,
    /** The settings that select the test's database. */
    env: () => database.env,
    async serve(settings: Readonly<Record<string, string>> = {}): Promise<ServedProcess> {
      const process = start(["serve"], { PORT: "0", ...settings });
      const [, address = ""] = await process.waitForOutput(/REST\s+(http:\S+)\/v1/);
      await process.waitForOutput(/Over HTTP/);
      return { process, address, client: createClient({ baseUrl: address, key: ownerKey }) };
    },
  };
}

/** Polls until a condition holds that depends on another process; fails after `forMs`. */
export async function waitUntil(holds: () => boolean | Promise<boolean>, forMs = 30_000): Promise<void> {
  const end = Date.now() + forMs;
  while (!(await holds())) {
    if (Date.now() > end) {
      throw new Error("the condition did not hold in time");
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
