/** Services in processes of their own on one fresh database: what each test starts is ended after it. */
import { afterEach, beforeEach } from "vitest";
import { type Client, createClient } from "../../src/client/index.ts";
import { type FreshDatabase, freshDatabase } from "./database.ts";
import { ownerKey } from "./house.ts";
import { type Process, startProcess } from "./process.ts";

export interface Served {
  readonly process: Process;
  readonly address: string;
  readonly client: Client;
}

/** To be called at the top of a test file. */
export function useProcesses() {
  let database: FreshDatabase;
  let running: Process[];
  beforeEach(async () => {
    database = await freshDatabase();
    running = [];
  });
  afterEach(async () => {
    await Promise.all(running.map((process) => process.end("SIGKILL")));
    await database[Symbol.asyncDispose]();
  });
  const start = (args: string[], settings: Readonly<Record<string, string>> = {}): Process => {
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
    /** The settings that lead to the test's database. */
    env: () => database.env,
    async serve(settings: Readonly<Record<string, string>> = {}): Promise<Served> {
      const process = start(["serve"], { PORT: "0", ...settings });
      const [, address = ""] = await process.says(/REST\s+(http:\S+)\/v1/);
      await process.says(/Over HTTP/);
      return { process, address, client: createClient({ baseUrl: address, key: ownerKey }) };
    },
  };
}

/** Waits for what another process does. */
export async function until(holds: () => boolean | Promise<boolean>, forMs = 30_000): Promise<void> {
  const end = Date.now() + forMs;
  while (!(await holds())) {
    if (Date.now() > end) {
      throw new Error("it did not come about in time");
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
