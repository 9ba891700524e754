/**
 * Reads documents in worker threads, one for each document, with limits of time and memory.
 *
 * The time counts from the start of the thread, and a document keeps its turn until its thread has ended. The
 * heap of a thread has a limit. Buffers are outside of the heap, for example the decompressed content of a
 * PDF, so the memory of the process is also watched while a document is read.
 */
import { Worker } from "node:worker_threads";
import type {
  DocumentFile,
  DocumentReader,
  ReadDocument,
  Reading,
  UnreadableDocument,
} from "../../ports/files/document-reader.ts";
import { workerModule } from "../worker-module.ts";
import { type DocumentLimits, defaultLimits, tooComplex } from "./limits.ts";
import type { ReaderTask } from "./reader-worker.ts";

export type { DocumentLimits } from "./limits.ts";

/** The most threads at once in this process: more would only compete for the processor and memory. */
const maxThreads = 2;
const memoryCheckMs = 100;

type Outcome = ReadDocument | UnreadableDocument;

export function openDocumentReader(changed: Partial<DocumentLimits> = {}): DocumentReader {
  const limits = { ...defaultLimits, ...changed };
  const turns = createTurns(maxThreads);
  return {
    async read(file, { signal }) {
      const endTurn = await turns.wait();
      try {
        signal.throwIfAborted();
        return await readInThread({ file, limits }, signal);
      } finally {
        endTurn();
      }
    },
  };
}

async function readInThread({ file, limits }: ReaderTask, signal: AbortSignal): Promise<Reading> {
  const timeMs = limits.timeMs + (file.bytes.length / 1_000_000) * limits.megabyteMs;
  const thread = startThread({ file: withOwnBytes(file), limits });
  const maxBytes = process.memoryUsage.rss() + limits.memoryMb * 2 ** 20;
  let startedAt = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const outcome = await new Promise<Outcome>((resolve, reject) => {
    const giveUp = () => resolve({ outcome: "unreadable", reason: "too_complex", detail: tooComplex });
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
    thread.once("exit", () => reject(new Error("The thread that reads a document exited.")));
    thread.once("exit", () => {
      clearTimeout(timer);
      clearInterval(watch);
      signal.removeEventListener("abort", abort);
    });
  }).finally(() => thread.terminate());
  return { ...outcome, tookMs: performance.now() - startedAt };
}

/** Passes the memory itself to the thread instead of a copy. A part of a shared buffer is copied. */
function withOwnBytes(file: DocumentFile): DocumentFile {
  const { bytes } = file;
  const isWhole = bytes.byteLength === bytes.buffer.byteLength && bytes.constructor === Uint8Array;
  return { ...file, bytes: isWhole ? bytes : Uint8Array.from(bytes) };
}

function startThread(workerData: ReaderTask): Worker {
  const { memoryMb } = workerData.limits;
  const options = {
    workerData,
    transferList: [workerData.file.bytes.buffer as ArrayBuffer], // not shared: of a download or a file
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    // The MCP server writes to standard output, so output of the thread is redirected.
    stdout: true,
  };
  const source = new URL("./reader-worker", import.meta.url);
  const thread = new Worker(workerModule(source, import.meta.url), options);
  thread.stdout.pipe(process.stderr, { end: false });
  return thread;
}

/** Lets `count` callers run at once; further callers wait in order. */
function createTurns(count: number) {
  const waiting: (() => void)[] = [];
  let free = count;
  const end = () => {
    const next = waiting.shift();
    if (next) {
      // The turn is passed directly to the next waiting caller, so that a new caller can't take it.
      next();
    } else {
      free += 1;
    }
  };
  return {
    /** Resolves to the function that ends the turn. */
    async wait(): Promise<() => void> {
      if (free === 0) {
        await new Promise<void>((resolve) => waiting.push(resolve));
      } else {
        free -= 1;
      }
      return end;
    },
  };
}
