/**
 * This process's part in a service on one data folder: it owns the folder and serves, or it follows the owner
 * and takes over when the owner's process ends.
 *
 * With PostgreSQL there is no owner: every process runs the service itself.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { App } from "../../app.ts";
import type { Config } from "../../config/index.ts";
import { openDatabase } from "../../database/connect.ts";
import type { BootstrapResult } from "../../platform/operations/bootstrap.ts";
import type { Log } from "../../ports/telemetry/log.ts";
import type { DataFolder } from "./data-folder.ts";
import { createVerifier } from "./verify-server.ts";

export interface InstanceOptions {
  readonly config: Config;
  readonly folder: DataFolder;
  readonly log: Log;
  /**
   * Where to listen if the service starts here at once. After a takeover the service listens on any port on
   * loopback.
   */
  readonly listen: { readonly host: string; readonly port: number };
  /** Default: true. */
  readonly runsJobs?: boolean;
  /** Called when the folder or its database was lost: this process must exit. */
  onLost(): void;
  /** Called once, with what the very first start created. */
  onFirstStart(created: BootstrapResult): void;
}

export interface Instance extends AsyncDisposable {
  /** Whether the service runs in this process or in another one. */
  readonly role: "owner" | "follower";
  /**
   * The current address of the service. If no process runs the service any more, starts it here. If another
   * process runs it, that process has proved that it has the folder's key.
   */
  address(): Promise<string>;
}

/** How often to look for the address of an owner that is starting. */
const pollMs = 50;
/** How often to contact an owner that does not prove itself. */
const retryMs = 500;
const ownerTimeoutMs = 60_000;
/** Long enough that a start that always fails costs little. */
const takeoverRetryMs = 10_000;

export async function openInstance(options: InstanceOptions): Promise<Instance> {
  const instance =
    options.config.databaseUrl === undefined
      ? createEmbeddedInstance(options)
      : createPostgresInstance(options);
  await instance.address();
  return instance;
}

function createPostgresInstance(options: InstanceOptions): Instance {
  const { config, folder, log, listen, onFirstStart, runsJobs = true } = options;
  let starting: Promise<App> | undefined;
  let app: App | undefined;
  return {
    role: "owner",
    async address() {
      starting ??= Promise.all([import("../../app.ts"), folder.credential()]).then(
        ([{ startApp }, localKey]) => startApp({ config, log, listen, localKey, onFirstStart, runsJobs }),
      );
      app = await starting;
      return app.address;
    },
    async [Symbol.asyncDispose]() {
      await app?.[Symbol.asyncDispose]();
    },
  };
}

/** An instance with the embedded database, which only one process at a time may open. */
function createEmbeddedInstance(options: InstanceOptions): Instance {
  const { config, folder, log, listen, onLost, onFirstStart, runsJobs = true } = options;
  const closing = new AbortController();
  const verify = createVerifier(folder);
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
    const listenOn = isFollower ? { host: "127.0.0.1", port: 0 } : listen;
    // The engine opens in its own thread while this thread loads the code of the service.
    const opening = openDatabase({
      url: undefined,
      dataDir: folder.path,
      ownership,
      log,
      onFailure: onLost,
    });
    try {
      const [database, { startApp }, localKey] = await Promise.all([
        opening,
        import("../../app.ts"),
        folder.credential(),
      ]);
      app = await startApp({ config, log, database, listen: listenOn, localKey, onFirstStart, runsJobs });
    } catch (error) {
      // Closed before another process, or the next attempt of this process, opens an engine on the same
      // folder.
      await opening.then((database) => database[Symbol.asyncDispose]()).catch(() => undefined);
      await ownership.release();
      throw error;
    }
    await ownership.publish(app.address);
    return app.address;
  }

  async function locate(): Promise<string> {
    const deadline = Date.now() + ownerTimeoutMs;
    while (Date.now() < deadline) {
      const owner = await folder.owner();
      const published = owner?.address;
      const address = owner ? published && (await verify(published)) : await start();
      if (address) {
        return address;
      }
      await sleep(published ? retryMs : pollMs);
    }
    throw new Error(`The process that owns ${config.dataDir} does not answer; stop it and try again.`);
  }

  async function follow(): Promise<void> {
    while (app === undefined && !closing.signal.aborted) {
      await folder.waitForOwnerEnd(closing.signal);
      if (!closing.signal.aborted) {
        log.info({}, "the owner of the data folder ended: taking over");
        await address().catch(async (error: unknown) => {
          log.error({ err: error }, "could not take over");
          await sleep(takeoverRetryMs, undefined, { ref: false });
        });
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
    const current = await pending;
    if (!app && !isFollower) {
      isFollower = true;
      follow().catch((error: unknown) => log.error({ err: error }, "can't follow the data folder's owner"));
    }
    return current;
  }

  return {
    get role() {
      return app ? "owner" : "follower";
    },
    address,
    async [Symbol.asyncDispose]() {
      closing.abort();
      await app?.[Symbol.asyncDispose]();
      await release?.();
    },
  };
}
