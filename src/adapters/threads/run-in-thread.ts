/**
 * Runs one task in a worker thread of its own, with limits of time and memory.
 *
 * The time counts from the start of the thread. The heap of a thread has a limit. Buffers are outside of the
 * heap, for example the decompressed content of a PDF, so the memory of the process is also watched while the
 * thread runs.
 */
import { Worker } from "node:worker_threads";
import { workerModule } from "./worker-module.ts";

export interface ThreadTask {
  /** The URL of the thread's source without the extension; the thread posts one message, its result. */
  readonly source: URL;
  /** `import.meta.url` of the caller. */
  readonly importer: string;
  readonly workerData: unknown;
  /** A buffer of `workerData` that is passed to the thread instead of a copy. */
  readonly transferred: Uint8Array;
  readonly timeMs: number;
  /** The limit of the thread's heap, and of the memory that the thread allocates outside of it. */
  readonly memoryMb: number;
  readonly signal: AbortSignal;
}

export interface ThreadResult {
  /** What the thread posted; undefined if it took too much time or memory. */
  readonly message: unknown;
  readonly tookMs: number;
}

const memoryCheckMs = 100;

/** @throws the reason of the signal, or the error of the thread. */
export async function runInThread(task: ThreadTask): Promise<ThreadResult> {
  const { timeMs, memoryMb, signal } = task;
  signal.throwIfAborted();
  const thread = startThread(task);
  const maxBytes = process.memoryUsage.rss() + memoryMb * 2 ** 20;
  let startedAt = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const message = await new Promise<unknown>((resolve, reject) => {
    const giveUp = () => resolve(undefined);
    thread.once("online", () => {
      startedAt = performance.now();
      timer = setTimeout(giveUp, timeMs);
    });
    const watch = setInterval(() => process.memoryUsage.rss() > maxBytes && giveUp(), memoryCheckMs);
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort);
    thread.once("message", resolve);
    thread.once("error", (error: NodeJS.ErrnoException) =>
      error.code === "ERR_WORKER_OUT_OF_MEMORY" || error instanceof RangeError ? giveUp() : reject(error),
    );
    thread.once("exit", () => reject(new Error(`The thread of ${task.source.pathname} exited.`)));
    thread.once("exit", () => {
      clearTimeout(timer);
      clearInterval(watch);
      signal.removeEventListener("abort", abort);
    });
  }).finally(() => thread.terminate());
  return { message, tookMs: performance.now() - startedAt };
}

/** The bytes in a buffer of their own, which can be transferred. A part of a shared buffer is copied. */
export function withOwnBuffer(bytes: Uint8Array): Uint8Array {
  const isWhole = bytes.byteLength === bytes.buffer.byteLength && bytes.constructor === Uint8Array;
  return isWhole ? bytes : Uint8Array.from(bytes);
}

function startThread({ source, importer, workerData, transferred, memoryMb }: ThreadTask): Worker {
  const thread = new Worker(workerModule(source, importer), {
    workerData,
    transferList: [transferred.buffer as ArrayBuffer], // not shared: of a download or a file
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    // The MCP server writes to standard output, so output of the thread is redirected.
    stdout: true,
  });
  thread.stdout.pipe(process.stderr, { end: false });
  return thread;
}
