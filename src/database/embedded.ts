/** Starts and stops the worker thread of the embedded database. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { chmod, lstat, mkdir, realpath, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import type pg from "pg";
import type { Listening, ThreadSettings } from "./embedded-worker.ts";

export interface Embedded extends AsyncDisposable {
  /** The settings of the pool: one connection, because the engine has one session. */
  readonly settings: pg.PoolConfig;
}

/** PostgreSQL clients look for this name when the host is a folder. */
const socketName = ".s.PGSQL.5432";

/** Operating systems truncate longer socket paths silently (104 bytes on macOS, 108 on Linux). */
const maxPathBytes = 103;

/** Closing takes some 50 ms; after this the thread is terminated, and the next start runs crash recovery. */
const closeTimeoutMs = 5_000;

/** The `threadId` of a thread that has exited. */
const exitedThreadId = -1;

/** Starts the database of `dataDir`; `onFailure` is called if its thread exits unexpectedly later. */
export async function startEmbedded(dataDir: string, onFailure: (error: Error) => void): Promise<Embedded> {
  const data = join(dataDir, "database");
  await mkdir(data, { recursive: true, mode: 0o700 });
  const folder = process.platform === "win32" ? undefined : await claimSocketFolder(await realpath(data));
  const socket = folder === undefined ? undefined : join(folder, socketName);

  const thread = startThread({ data, socket });
  const { port } = await waitUntilListening(thread, data);
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

  return {
    settings: poolSettings(folder === undefined ? { host: "127.0.0.1", port } : { host: folder, port: 5432 }),
    async [Symbol.asyncDispose]() {
      isClosing = true;
      await stop(thread);
      if (folder !== undefined) {
        await rm(folder, { recursive: true, force: true });
      }
    },
  };
}

function poolSettings(address: { host: string; port: number }): pg.PoolConfig {
  return {
    ...address,
    user: "postgres",
    database: "postgres",
    // Overrides PGSSLMODE of the environment.
    ssl: false,
    max: 1,
    idleTimeoutMillis: 0,
    // A query on the pool inside an open transaction waits for its own connection: fail instead of hanging.
    connectionTimeoutMillis: 5_000,
    // All connections share one session: discard the prepared statements of a broken connection.
    onConnect: (client) => client.query("discard all"),
  };
}

/** Creates the private folder of the socket. Its name is short and derived from the data folder, so it is reused after a crash. */
async function claimSocketFolder(data: string): Promise<string> {
  const key = createHash("sha1").update(data).digest("hex").slice(0, 12);
  // os.userInfo() fails for container users without a name.
  const uid = process.getuid?.();
  const name = `tidings-${uid}-${key}`;
  const isShort = Buffer.byteLength(join(tmpdir(), name, socketName)) <= maxPathBytes;
  const folder = join(isShort ? tmpdir() : "/tmp", name);
  await mkdir(folder, { recursive: true, mode: 0o700 });

  // The temporary folder is writable for all: never use a folder that another user has created there.
  const entry = await lstat(folder);
  if (!entry.isDirectory() || entry.uid !== uid) {
    throw new Error(`${folder} belongs to another user. Remove it, or set TMPDIR to a folder of your own.`);
  }
  await chmod(folder, 0o700);

  const socket = join(folder, socketName);
  if (!(await isReleased(socket))) {
    throw new Error(
      `The database in ${data} is already in use. Stop the process that uses it, or set another folder.`,
    );
  }
  await rm(socket, { force: true });
  return folder;
}

/** After a process is killed, its threads may hold the socket for a moment longer. */
const releaseTimeoutMs = 3_000;

/** Waits until no process listens on the socket; false if one still does. */
async function isReleased(socket: string): Promise<boolean> {
  const deadline = Date.now() + releaseTimeoutMs;
  while (await isListening(socket)) {
    if (Date.now() > deadline) {
      return false;
    }
    await sleep(20);
  }
  return true;
}

/** Two engines on one folder corrupt its data, and neither reports an error. */
async function isListening(socket: string): Promise<boolean> {
  const client = connect(socket);
  try {
    await once(client, "connect");
    return true;
  } catch {
    return false;
  } finally {
    client.destroy();
  }
}

function startThread(workerData: ThreadSettings): Worker {
  // The MCP server writes to standard output: redirect what the engine prints.
  const options = { workerData, stdout: true };
  const thread = import.meta.url.endsWith(".ts")
    ? new Worker(runSource(new URL("./embedded-worker.ts", import.meta.url)), { ...options, eval: true })
    : new Worker(new URL("./embedded-worker.js", import.meta.url), options);
  thread.stdout.pipe(process.stderr, { end: false });
  return thread;
}

/** Runs TypeScript in a thread, for development and tests: threads do not inherit the loaders of tsx and vitest. */
function runSource({ href }: URL): string {
  // Vite has no import.meta.resolve, and the CommonJS build that require finds can't resolve its own files.
  const commonJs = createRequire(import.meta.url).resolve("tsx/esm/api");
  const tsx = pathToFileURL(commonJs.replace(/\.cjs$/, ".mjs")).href;
  return `import("${tsx}").then(({ tsImport }) => tsImport("${href}", "${href}"))`;
}

/** Waits until the thread listens; throws if it exits first. */
async function waitUntilListening(thread: Worker, data: string): Promise<Listening> {
  const exit = new AbortController();
  thread.once("exit", () => exit.abort());
  try {
    const [message] = await once(thread, "message", { signal: exit.signal });
    return message as Listening; // the only message of the thread
  } catch (cause) {
    const reason = exit.signal.aborted || !(cause instanceof Error) ? "its thread exited" : cause.message;
    throw new Error(
      `The database in ${data} did not start: ${reason}. If another version wrote it or it is damaged, set another folder.`,
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
