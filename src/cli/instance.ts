/**
 * This process's share of a service on one data folder: it owns the folder and serves, or follows the
 * process that does, and takes over when that one ends.
 *
 * On PostgreSQL there is nothing to own: every process serves for itself.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type App, startApp } from "../app.ts";
import type { Config } from "../config/index.ts";
import type { BootstrapResult } from "../platform/bootstrap.ts";
import type { Log } from "../ports/log.ts";
import type { DataFolder } from "./data-folder/index.ts";

export interface InstanceOptions {
  readonly config: Config;
  readonly folder: DataFolder;
  readonly log: Log;
  /** Where to listen when the service is started here at once; after a take-over it is any port on loopback. */
  readonly listen: { readonly host: string; readonly port: number };
  /** The folder or its database was lost: this process must end. */
  onLost(): void;
  /** Told what the very first start made, once. */
  onFirstStart(made: BootstrapResult): void;
}

export interface Instance extends AsyncDisposable {
  /** Whether the service was started here or by another process. */
  readonly role: "owner" | "follower";
  /** Where the service is now; it is started here if nobody runs it any more. */
  address(): Promise<string>;
}

/** How often a starting owner is asked for its address, and for how long. */
const pollMs = 50;
const ownerTimeoutMs = 60_000;

export async function openInstance(options: InstanceOptions): Promise<Instance> {
  const instance =
    options.config.databaseUrl === undefined
      ? createEmbeddedInstance(options)
      : createPostgresInstance(options);
  await instance.address();
  return instance;
}

/** On PostgreSQL. */
function createPostgresInstance({ config, folder, log, listen, onFirstStart }: InstanceOptions): Instance {
  let starting: Promise<App> | undefined;
  let app: App | undefined;
  return {
    role: "owner",
    async address() {
      starting ??= folder
        .credential()
        .then((localKey) => startApp({ config, log, listen, localKey, onFirstStart }));
      app = await starting;
      return app.address;
    },
    async [Symbol.asyncDispose]() {
      await app?.[Symbol.asyncDispose]();
    },
  };
}

/** On the embedded database, which one process at a time may have. */
function createEmbeddedInstance(options: InstanceOptions): Instance {
  const { config, folder, log, listen, onLost, onFirstStart } = options;
  const following = new AbortController();
  let app: App | undefined;
  let release: (() => Promise<void>) | undefined;
  let isFollower = false;
  let pending: Promise<string> | undefined;

  async function start(): Promise<string | undefined> {
    const ownership = await folder.claim({ onLost });
    if (!ownership) {
      return undefined;
    }
    release = () => ownership.release();
    const where = isFollower ? { host: "127.0.0.1", port: 0 } : listen;
    try {
      app = await startApp({
        config,
        log,
        listen: where,
        localKey: await folder.credential(),
        onFailure: onLost,
        onFirstStart,
      });
    } catch (error) {
      await ownership.release();
      throw error;
    }
    await ownership.publish(app.address);
    return app.address;
  }

  async function locate(): Promise<string> {
    const until = Date.now() + ownerTimeoutMs;
    while (Date.now() < until) {
      const owner = await folder.owner();
      const address = owner ? owner.address : await start();
      if (address !== undefined) {
        return address;
      }
      isFollower ||= owner !== undefined;
      await sleep(pollMs);
    }
    throw new Error(`The process that owns ${config.dataDir} does not answer; end it and try again.`);
  }

  async function follow(): Promise<void> {
    while (app === undefined && !following.signal.aborted) {
      await folder.waitForOwnerEnd(following.signal);
      if (!following.signal.aborted) {
        log.info({}, "the owner of the data folder ended: taking over");
        await address();
      }
    }
  }

  async function address(): Promise<string> {
    if (app) {
      return app.address;
    }
    pending ??= locate().finally(() => {
      pending = undefined;
    });
    const found = await pending;
    if (!app && !isFollower) {
      isFollower = true;
      follow().catch((error: unknown) => log.error({ err: error }, "could not take over"));
    }
    return found;
  }

  return {
    get role() {
      return app ? "owner" : "follower";
    },
    address,
    async [Symbol.asyncDispose]() {
      following.abort();
      await app?.[Symbol.asyncDispose]();
      await release?.();
    },
  };
}
