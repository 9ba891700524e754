/** A running house for tests: its own database, a clock that is turned by hand, and a client with a key. */
import { type App, startApp } from "../../src/app.ts";
import { type CallOptions, createClient } from "../../src/client/index.ts";
import { readConfig } from "../../src/config/index.ts";
import type { Modules } from "../../src/platform/index.ts";
import type { Log } from "../../src/ports/log.ts";
import type { InputOf, Operation, OutputOf } from "../../tools/contract/index.ts";
import { type FreshDatabase, freshDatabase } from "./database.ts";

export const ownerEmail = "owner@example.com";
export const ownerPassword = "correct horse battery";
/** The full-scope key of the first organization. */
export const ownerKey = `sk_live_${"o".repeat(43)}`;

export interface House extends AsyncDisposable {
  readonly app: App;
  readonly address: string;
  readonly dataDir: string;
  /** Calls an operation with the owner's key, or another. */
  call<Op extends Operation>(operation: Op, input: InputOf<Op>, options?: CallOptions): Promise<OutputOf<Op>>;
  /** A request as it is, for what the client would not send. */
  fetch(path: string, options?: RequestInit & { key?: string | null; json?: unknown }): Promise<Response>;
  now(): Date;
  /** Does what is due now, turns the clock, and does what has come due. */
  turn(ms: number): Promise<void>;
  /** Does what is due now. */
  settle(): Promise<void>;
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** Starts a house on the engine of this test run. */
export async function openHouse(
  options: {
    built?: Modules;
    env?: Record<string, string>;
    works?: boolean;
    log?: Log;
    /** One that outlasts the house; of its own when left out. */
    database?: FreshDatabase;
  } = {},
): Promise<House> {
  const database = options.database ?? (await freshDatabase());
  const { config } = readConfig({
    ...database.env,
    TIDINGS_OWNER_EMAIL: ownerEmail,
    TIDINGS_OWNER_PASSWORD: ownerPassword,
    TIDINGS_BOOTSTRAP_KEY: ownerKey,
    TIDINGS_RATE_LIMIT: "100000",
    TIDINGS_RATE_BURST: "200000",
    ...options.env,
  });
  let time = Date.now();
  const now = () => new Date(time);
  const app = await startApp({
    config,
    log: options.log ?? silentLog,
    listen: { host: "127.0.0.1", port: 0 },
    now,
    works: options.works ?? false,
    ...(options.built ? { built: options.built } : {}),
  });
  const client = createClient({ baseUrl: app.address, key: ownerKey, retries: 0 });
  const settle = async () => {
    await app.jobs.runDue();
  };
  return {
    app,
    address: app.address,
    dataDir: config.dataDir,
    call: (operation, input, given) => client.call(operation, input, given),
    fetch: (path, { key = ownerKey, json, ...init } = {}) =>
      fetch(app.address + path, {
        ...init,
        headers: {
          ...(key === null ? {} : { "x-api-key": key }),
          ...(json === undefined ? {} : { "content-type": "application/json" }),
          ...(init.headers as Record<string, string> | undefined),
        },
        ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      }),
    now,
    async turn(ms) {
      await settle();
      time += ms;
      await settle();
    },
    settle,
    async [Symbol.asyncDispose]() {
      await client.close();
      await app[Symbol.asyncDispose]();
      if (database !== options.database) {
        await database[Symbol.asyncDispose]();
      }
    },
  };
}
