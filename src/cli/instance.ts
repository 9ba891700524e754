/**
 * This process's share of a service on one data folder: it owns the folder and serves, or follows the
 * process that does, and takes over when that one ends.
 *
 * On PostgreSQL there is nothing to own: every process serves for itself.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type App, startApp } from "../app.ts";
import type { Config } from "../config/index.ts";
import type { FirstStart } from "../platform/bootstrap.ts";
import type { Log } from "../ports/log.ts";
import type { Folder } from "./data-folder.ts";

export interface InstanceOptions {
  readonly config: Config;
  readonly folder: Folder;
  readonly log: Log;
  /** Where to listen when the service is started here at once; after a take-over it is any port on loopback. */
  readonly listen: { readonly host: string; readonly port: number };
  /** The folder or its database was lost: this process must end. */
  onLost(): void;
  /** Told what the very first start made, once. */
  onFirstStart(made: FirstStart): void;
}

export interface Instance extends AsyncDisposable {
  /** Whether the service was started here or by another process. */
  readonly role: "owner" | "follower";
  /** Where the service is now; it is started here if nobody runs it any more. */
  address(): Promise<string>;
}

/** How often a starting owner is asked for its address, and for how long. */
const askEveryMs = 50;
const askForMs = 60_000;

export async function openInstance(options: InstanceOptions): Promise<Instance> {
  const house = options.config.databaseUrl === undefined ? sharedHouse(options) : ownHouse(options);
  await house.address();
  return house;
}

/** On PostgreSQL. */
function ownHouse({ config, folder, log, listen, onFirstStart }: InstanceOptions): Instance {
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
function sharedHouse(options: InstanceOptions): Instance {
  const { config, folder, log, listen, onLost, onFirstStart } = options;
  const watching = new AbortController();
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
    const until = Date.now() + askForMs;
    while (Date.now() < until) {
      const owner = await folder.owner();
      const address = owner ? owner.address : await start();
      if (address !== undefined) {
        return address;
      }
      isFollower ||= owner !== undefined;
      await sleep(askEveryMs);
    }
    throw new Error(`The process that owns ${config.dataDir} does not answer; end it and try again.`);
  }

  async function follow(): Promise<void> {
    while (app === undefined && !watching.signal.aborted) {
      await folder.ownerEnds(watching.signal);
      if (!watching.signal.aborted) {
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
      watching.abort();
      await app?.[Symbol.asyncDispose]();
      await release?.();
    },
  };
}
