/** Starts services as separate processes on a fresh database, and stops them after the test or the tests of a file. */
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { type Client, createClient } from "../../src/client/index.ts";
import { ownerKey } from "./app.ts";
import { createTestDatabase, type TestDatabase } from "./database.ts";
import { startProcess, type TidingsProcess } from "./process.ts";

type Settings = Readonly<Record<string, string>>;

export interface ServedProcess {
  readonly process: TidingsProcess;
  readonly address: string;
  readonly client: Client;
}

export interface Processes {
  /** Starts the program with these arguments. */
  start(args: string[], settings?: Settings): TidingsProcess;
  serve(settings?: Settings): Promise<ServedProcess>;
  /** The settings that select the database. */
  env(): Settings;
}

/** A database for each test, and the processes on it. Call this at the top of a test file. */
export function useProcesses(): Processes {
  let current: OpenProcesses;
  beforeEach(async () => {
    current = await openProcesses();
  });
  afterEach(() => current[Symbol.asyncDispose]());
  return {
    start: (args, settings) => current.start(args, settings),
    serve: (settings) => current.serve(settings),
    env: () => current.env(),
  };
}

/** One service for the tests of a file or a `describe`, each of which must use data of its own. */
export function useService(settings?: Settings) {
  let processes: OpenProcesses;
  let service: ServedProcess;
  beforeAll(async () => {
    processes = await openProcesses();
    service = await processes.serve(settings);
  });
  afterAll(() => processes[Symbol.asyncDispose]());
  return {
    client: () => service.client,
    address: () => service.address,
    start: (args: string[]) => processes.start(args),
    env: () => processes.env(),
  };
}

type OpenProcesses = Processes & AsyncDisposable;

async function openProcesses(): Promise<OpenProcesses> {
  const database: TestDatabase = await createTestDatabase();
  const running: TidingsProcess[] = [];
  const start = (args: string[], settings: Settings = {}): TidingsProcess => {
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
    env: () => database.env,
    async serve(settings = {}) {
      const process = start(["serve"], { PORT: "0", ...settings });
      const [, address = ""] = await process.waitForOutput(/REST\s+(http:\S+)\/v1/);
      await process.waitForOutput(/Over HTTP/);
      return { process, address, client: createClient({ baseUrl: address, key: ownerKey }) };
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(running.map((process) => process.end("SIGKILL")));
      await database[Symbol.asyncDispose]();
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
