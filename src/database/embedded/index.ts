/** Starts and stops the worker thread of the embedded database. */
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import type pg from "pg";
import { claimOrFail, type Ownership } from "../ownership/index.ts";
import { archiveName } from "./archive-name.ts";
import type { ThreadSettings } from "./embedded-worker.ts";
import { damageAdvice, findDamage, restoreEmptyFolders } from "./find-damage.ts";
import { exitedThreadId, PortStream } from "./port-stream.ts";

export { damageAdvice, findDamage } from "./find-damage.ts";
export { startMaintenance } from "./maintenance.ts";

export interface EmbeddedOptions {
  /** The data folder; the database is in its folder `database`. */
  readonly dataDir: string;
  /** The ownership of the data folder. By default the folder is claimed until the engine is closed. */
  readonly ownership: Ownership | undefined;
  /** Whether a new database begins with no table. By default it begins with the archive of the build. */
  readonly startsEmpty?: boolean;
  /** Whether the extensions pageinspect and amcheck can be created. Default: no. */
  readonly hasPageTools?: boolean;
  /** Called if the thread exits unexpectedly after the start. */
  onFailure(error: Error): void;
}

export interface EmbeddedEngine extends AsyncDisposable {
  /** The settings of the pool: one connection, because the engine has one session. */
  readonly settings: pg.PoolConfig;
}

/**
 * Closing takes about 50 ms. After this time the thread is terminated, and the next start runs crash
 * recovery.
 */
const closeTimeoutMs = 5_000;

export async function startEmbedded({
  dataDir,
  ownership,
  startsEmpty = false,
  hasPageTools = false,
  onFailure,
}: EmbeddedOptions): Promise<EmbeddedEngine> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const lost = new AbortController();
  const claimed = ownership ? undefined : await claimOrFail(dataDir, { onLost: () => lost.abort() });
  try {
    const engine = await start(join(dataDir, "database"), {
      onFailure,
      startsEmpty,
      hasPageTools,
      lost: lost.signal,
    });
    return {
      settings: engine.settings,
      async [Symbol.asyncDispose]() {
        await engine[Symbol.asyncDispose]();
        await claimed?.release();
      },
    };
  } catch (error) {
    await claimed?.release();
    throw error;
  }
}

/** When `lost` aborts, another process owns the folder, and the engine must not write to it any more. */
async function start(
  data: string,
  {
    onFailure,
    startsEmpty,
    hasPageTools = false,
    lost,
  }: Pick<EmbeddedOptions, "onFailure" | "startsEmpty" | "hasPageTools"> & { readonly lost: AbortSignal },
): Promise<EmbeddedEngine> {
  const damage = await findDamage(data);
  if (damage !== undefined) {
    throw new Error(`The database in ${data} is damaged. ${damage} ${damageAdvice}`);
  }
  await restoreEmptyFolders(data);
  const archive = fileURLToPath(new URL(archiveName(), import.meta.url));
  const thread = startThread({ data, archive: startsEmpty ? undefined : archive, hasPageTools });
  lost.addEventListener("abort", () => void thread.terminate());
  await waitUntilReady(thread, data);
  let isClosing = false;
  let failure = new Error("The embedded database stopped.");
  thread.on("error", (error) => {
    failure = new Error(`The embedded database stopped: ${error.message}`, { cause: error });
  });
  thread.once("exit", () => {
    if (!isClosing) {
      onFailure(failure);
    }
  });

  const connections = new Set<PortStream>();
  const connect = () => {
    const stream = new PortStream(thread);
    connections.add(stream);
    return stream.once("close", () => connections.delete(stream));
  };
  return {
    settings: poolSettings(connect),
    async [Symbol.asyncDispose]() {
      isClosing = true;
      // The thread stops once it has no connection. A connection that was never released must not delay this.
      for (const stream of connections) {
        stream.destroy();
      }
      await stop(thread);
    },
  };
}

function poolSettings(stream: NonNullable<pg.PoolConfig["stream"]>): pg.PoolConfig {
  return {
    stream,
    user: "postgres",
    database: "postgres",
    // Overrides PGSSLMODE of the environment.
    ssl: false,
    max: 1,
    idleTimeoutMillis: 0,
    // A query on the pool inside an open transaction waits for its own connection: fail instead of hanging.
    connectionTimeoutMillis: 5_000,
  };
}

function startThread(workerData: ThreadSettings): Worker {
  // The MCP server writes to standard output, so output of the engine is redirected.
  const options = { workerData, stdout: true };
  const thread = import.meta.url.endsWith(".ts")
    ? new Worker(runSource(new URL("./embedded-worker.ts", import.meta.url)), { ...options, eval: true })
    : new Worker(new URL("./embedded-worker.js", import.meta.url), options);
  thread.stdout.pipe(process.stderr, { end: false });
  return thread;
}

/**
 * Runs TypeScript in a thread, for development and tests. Threads do not inherit the loaders of tsx and
 * vitest.
 */
function runSource({ href }: URL): string {
  // Vite has no import.meta.resolve, and the CommonJS build, which require finds, can't resolve its own
  // files.
  const commonJs = createRequire(import.meta.url).resolve("tsx/esm/api");
  const tsx = pathToFileURL(commonJs.replace(/\.cjs$/, ".mjs")).href;
  return `import("${tsx}").then(({ tsImport }) => tsImport("${href}", "${href}"))`;
}

/** Waits until the engine is open. Throws if the thread exits first. */
async function waitUntilReady(thread: Worker, data: string): Promise<void> {
  const exit = new AbortController();
  thread.once("exit", () => exit.abort());
  try {
    await once(thread, "message", { signal: exit.signal });
  } catch (cause) {
    const reason = exit.signal.aborted || !(cause instanceof Error) ? "its thread exited" : cause.message;
    throw new Error(
      `The database in ${data} did not start: ${reason}. It is damaged, or another version wrote it. ${damageAdvice}`,
      { cause },
    );
  }
}

async function stop(thread: Worker): Promise<void> {
  if (thread.threadId === exitedThreadId) {
    return;
  }
  const exit = new Promise((resolve) => thread.once("exit", resolve));
  thread.postMessage("stop");
  const timer = setTimeout(() => void thread.terminate(), closeTimeoutMs);
  await exit;
  clearTimeout(timer);
}
