/** A running app for tests: its own database, a clock that the test advances, and a client with a key. */
import { afterAll, beforeAll } from "vitest";
import { type App, type AppOptions, startApp } from "../../src/app.ts";
import { type CallOptions, createClient } from "../../src/client/index.ts";
import { readConfig } from "../../src/config/index.ts";
import type { Modules } from "../../src/platform/index.ts";
import type { Log } from "../../src/ports/telemetry/log.ts";
import type { InputOf, Operation, OutputOf } from "../../tools/contract/index.ts";
import { lendTestDatabase, type TestDatabase } from "./database.ts";
import { signUserToken } from "./user-token.ts";

export const ownerEmail = "owner@example.com";
export const ownerPassword = "correct horse battery";
/** The full-scope key of the first organization. */
export const ownerKey = `sk_live_${"o".repeat(43)}`;
export const operatorKey = "p".repeat(32);

export interface TestApp extends AsyncDisposable {
  readonly server: App;
  readonly address: string;
  readonly dataDir: string;
  /**
   * Calls an operation with the owner's key, or another. An operation that requires a person is called with
   * the owner's access token.
   */
  call<Op extends Operation>(operation: Op, input: InputOf<Op>, options?: CallOptions): Promise<OutputOf<Op>>;
  /**
   * An access token of the owner, or of the user with this address, without a sign-in, which would count
   * towards the limit of attempts.
   */
  signOwner(email?: string): Promise<string>;
  /** A plain request, for what the client would not send. Sends the owner's key unless `key` is null. */
  fetch(path: string, options?: RequestInit & { key?: string | null; json?: unknown }): Promise<Response>;
  now(): Date;
  /** Runs the jobs that are due, advances the clock, and runs the jobs that have come due. */
  advanceTime(ms: number): Promise<void>;
  /** Runs the jobs that are due now. */
  runDueJobs(): Promise<void>;
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };

interface TestAppOptions extends Pick<AppOptions, "images" | "otherChannels" | "replaceAuthority"> {
  readonly enabledModules?: Modules;
  /** The files of the console; by default there are none. */
  readonly consoleFolder?: URL;
  readonly env?: Record<string, string>;
  /** Runs jobs in the background too; false by default, so that only the test runs them. */
  readonly runsJobs?: boolean;
  readonly log?: Log;
  /** A database that outlives the app; by default the app has its own. */
  readonly database?: TestDatabase;
  /** Where the clock begins; by default now. */
  readonly startsAt?: Date;
  /** The key of its data folder; by default it has none. */
  readonly localKey?: string;
  /** Where it listens; by default on loopback. */
  readonly host?: string;
  /** By default any that is free. */
  readonly port?: number;
}

/** Starts an app before the tests of a file or a `describe`, and stops it after them. */
export function useTestApp(options?: TestAppOptions): TestApp {
  let started: TestApp | undefined;
  const app = () => {
    if (started === undefined) {
      throw new Error("the app runs only during tests");
    }
    return started;
  };
  beforeAll(async () => {
    started = await startTestApp(options);
  });
  afterAll(() => started?.[Symbol.asyncDispose]());
  return {
    get server() {
      return app().server;
    },
    get address() {
      return app().address;
    },
    get dataDir() {
      return app().dataDir;
    },
    call: (operation, input, callOptions) => app().call(operation, input, callOptions),
    signOwner: (email) => app().signOwner(email),
    fetch: (path, init) => app().fetch(path, init),
    now: () => app().now(),
    advanceTime: (ms) => app().advanceTime(ms),
    runDueJobs: () => app().runDueJobs(),
    [Symbol.asyncDispose]: () => app()[Symbol.asyncDispose](),
  };
}

/** Starts an app on the database engine of this test run. */
export async function startTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  const database = options.database ?? (await lendTestDatabase());
  // A test that names a server opens its database itself.
  const opened = database.opened && !options.env?.DATABASE_URL ? { database: database.opened } : {};
  const { config } = readConfig({
    ...database.env,
    TIDINGS_OWNER_EMAIL: ownerEmail,
    TIDINGS_OWNER_PASSWORD: ownerPassword,
    TIDINGS_BOOTSTRAP_KEY: ownerKey,
    TIDINGS_OPERATOR_KEY: operatorKey,
    TIDINGS_RATE_LIMIT: "100000",
    TIDINGS_RATE_BURST: "200000",
    ...options.env,
  });
  let time = (options.startsAt ?? new Date()).getTime();
  const now = () => new Date(time);
  const app = await startApp({
    config,
    log: options.log ?? silentLog,
    ...opened,
    listen: { host: options.host ?? "127.0.0.1", port: options.port ?? 0 },
    ...(options.localKey ? { localKey: options.localKey } : {}),
    now,
    runsJobs: options.runsJobs ?? false,
    ...(options.enabledModules ? { enabledModules: options.enabledModules } : {}),
    ...(options.consoleFolder ? { consoleFolder: options.consoleFolder } : {}),
    ...(options.otherChannels ? { otherChannels: options.otherChannels } : {}),
    ...(options.images ? { images: options.images } : {}),
    ...(options.replaceAuthority ? { replaceAuthority: options.replaceAuthority } : {}),
  });
  const client = createClient({ baseUrl: app.address, key: ownerKey, retries: 0 });
  const signOwner = (email = ownerEmail) =>
    signUserToken({ database: app.database, secret: config.secret, email, now });
  const runDueJobs = async () => {
    await app.jobs.runDue();
  };
  return {
    server: app,
    address: app.address,
    dataDir: config.dataDir,
    async call(operation, input, callOptions) {
      const key = operation.credential === "person" ? { key: await signOwner() } : {};
      return client.call(operation, input, { ...key, ...callOptions });
    },
    signOwner,
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
    async advanceTime(ms) {
      await runDueJobs();
      time += ms;
      await runDueJobs();
    },
    runDueJobs,
    async [Symbol.asyncDispose]() {
      await client.close();
      await app[Symbol.asyncDispose]();
      if (database !== options.database) {
        await database[Symbol.asyncDispose]();
      }
    },
  };
}
