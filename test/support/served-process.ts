/** Starts services as separate processes on a fresh database, for one test or for the tests of a file. */
import { afterAll } from "vitest";
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

export interface Processes extends AsyncDisposable {
  readonly database: TestDatabase;
  /** The settings that select the database. */
  readonly env: Settings;
  /** Starts the program with these arguments. */
  start(args: string[], settings?: Settings): TidingsProcess;
  serve(settings?: Settings): Promise<ServedProcess>;
}

export interface SharedService extends ServedProcess {
  readonly processes: Processes;
}

/**
 * A service for the tests of a file, each of which must use data of its own. It starts with the first test
 * that needs it, and stops after the last test.
 */
export function useService(settings?: Settings): () => Promise<SharedService> {
  let opening: Promise<Processes> | undefined;
  let serving: Promise<SharedService> | undefined;
  afterAll(async () => {
    await (await opening)?.[Symbol.asyncDispose]();
  });
  const serve = async (): Promise<SharedService> => {
    opening = openProcesses();
    const processes = await opening;
    return { processes, ...(await processes.serve(settings)) };
  };
  return () => {
    serving ??= serve();
    return serving;
  };
}

/** A database, a new one by default, and the processes on it, for one test. */
export async function openProcesses(of?: TestDatabase): Promise<Processes> {
  const database = of ?? (await createTestDatabase());
  const running: TidingsProcess[] = [];
  const start = (args: string[], settings: Settings = {}): TidingsProcess => {
    const process = startProcess(args, {
      ...database.env,
      TIDINGS_BOOTSTRAP_KEY: ownerKey,
      TIDINGS_RATE_LIMIT: "100000",
      ...settings,
    });
    running.push(process);
    return process;
  };
  return {
    database,
    start,
    env: database.env,
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
