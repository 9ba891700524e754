/** The embedded database: starts its thread, and says where `pg` reaches it. */
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
  /** How it is reached: by one connection, for it has one session. */
  readonly settings: pg.PoolConfig;
}

/** The name that PostgreSQL's clients look for in the folder that they are given as the host. */
const socketName = ".s.PGSQL.5432";

/** A longer path is cut silently by the system, and the socket appears elsewhere (104 bytes on macOS, 108 on Linux). */
const maxPathBytes = 103;

/** Closing takes some 50 ms; after this the thread is ended as it is, which costs a recovery at the next start. */
const closeMs = 5_000;

/** The id of a thread that has ended. */
const ended = -1;

/** Starts the database of `dataDir`; `onFailure` is told when its thread ends by itself later. */
export async function startEmbedded(dataDir: string, onFailure: (error: Error) => void): Promise<Embedded> {
  const data = join(dataDir, "database");
  await mkdir(data, { recursive: true, mode: 0o700 });
  const folder = process.platform === "win32" ? undefined : await claimSocketFolder(await realpath(data));
  const socket = folder === undefined ? undefined : join(folder, socketName);

  const thread = startThread({ data, socket });
  const { port } = await listening(thread, data);
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
    settings: settings(folder === undefined ? { host: "127.0.0.1", port } : { host: folder, port: 5432 }),
    async [Symbol.asyncDispose]() {
      isClosing = true;
      await stop(thread);
      if (folder !== undefined) {
        await rm(folder, { recursive: true, force: true });
      }
    },
  };
}

function settings(address: { host: string; port: number }): pg.PoolConfig {
  return {
    ...address,
    user: "postgres",
    database: "postgres",
    // Said, or else the environment's PGSSLMODE would say it.
    ssl: false,
    max: 1,
    idleTimeoutMillis: 0,
    // A query on the pool inside an open transaction waits for itself: it must become an error, not a hang.
    connectionTimeoutMillis: 5_000,
    // All who connect share the one session: the names that a broken connection left there must go.
    onConnect: (client) => client.query("discard all"),
  };
}

/** A folder for the socket, short, ours alone, and the same for the same data, so that a crash leaves no litter. */
async function claimSocketFolder(data: string): Promise<string> {
  const key = createHash("sha1").update(data).digest("hex").slice(0, 12);
  // Not os.userInfo(), which fails for a container's user that has no name.
  const uid = process.getuid?.();
  const name = `tidings-${uid}-${key}`;
  const isShort = Buffer.byteLength(join(tmpdir(), name, socketName)) <= maxPathBytes;
  const folder = join(isShort ? tmpdir() : "/tmp", name);
  await mkdir(folder, { recursive: true, mode: 0o700 });

  // Anybody may write to the temporary folder: one that another user has laid out must not be used.
  const found = await lstat(folder);
  if (!found.isDirectory() || found.uid !== uid) {
    throw new Error(`${folder} belongs to somebody else. Remove it, or set TMPDIR to a folder of your own.`);
  }
  await chmod(folder, 0o700);

  const socket = join(folder, socketName);
  if (!(await fallsSilent(socket))) {
    throw new Error(
      `The database in ${data} is open already. Close the process that uses it, or set another folder.`,
    );
  }
  await rm(socket, { force: true });
  return folder;
}

/** A killed process counts as dead before the last of its threads has let go of the socket. */
const lettingGoMs = 3_000;

/** Waits until nobody listens there; false if somebody still does. */
async function fallsSilent(socket: string): Promise<boolean> {
  const until = Date.now() + lettingGoMs;
  while (await answers(socket)) {
    if (Date.now() > until) {
      return false;
    }
    await sleep(20);
  }
  return true;
}

/** Whether somebody listens there. Two engines on one folder destroy it without a word. */
async function answers(socket: string): Promise<boolean> {
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
  // Standard output belongs to the MCP server: nothing that the engine prints may reach it.
  const options = { workerData, stdout: true };
  const thread = import.meta.url.endsWith(".ts")
    ? new Worker(runSource(new URL("./embedded-worker.ts", import.meta.url)), { ...options, eval: true })
    : new Worker(new URL("./embedded-worker.js", import.meta.url), options);
  thread.stdout.pipe(process.stderr, { end: false });
  return thread;
}

/** Runs TypeScript in a thread, for development and tests: it does not inherit what tsx or vitest do for the main one. */
function runSource({ href }: URL): string {
  // Vite has no import.meta.resolve, and what require finds is a twin that does not find its own files.
  const twin = createRequire(import.meta.url).resolve("tsx/esm/api");
  const tsx = pathToFileURL(twin.replace(/\.cjs$/, ".mjs")).href;
  return `import("${tsx}").then(({ tsImport }) => tsImport("${href}", "${href}"))`;
}

/** Waits until the thread listens; fails when it ends first. */
async function listening(thread: Worker, data: string): Promise<Listening> {
  const exit = new AbortController();
  thread.once("exit", () => exit.abort());
  try {
    const [message] = await once(thread, "message", { signal: exit.signal });
    return message as Listening; // the thread says nothing else
  } catch (cause) {
    const reason = exit.signal.aborted || !(cause instanceof Error) ? "its thread ended" : cause.message;
    throw new Error(
      `The database in ${data} did not start: ${reason}. If it was written by another version or is damaged, set another folder.`,
      { cause },
    );
  }
}

async function stop(thread: Worker): Promise<void> {
  if (thread.threadId === ended) {
    return;
  }
  const exit = new Promise((resolve) => thread.once("exit", resolve));
  thread.postMessage("stop");
  const timer = setTimeout(() => void thread.terminate(), closeMs);
  await exit;
  clearTimeout(timer);
}
