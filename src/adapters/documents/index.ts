/** Reads documents in worker threads, one for each document, with limits of time and memory. */
import type {
  DocumentReader,
  ReadDocument,
  Reading,
  UnreadableDocument,
} from "../../ports/files/document-reader.ts";
import { runInThread, withOwnBuffer } from "../threads/run-in-thread.ts";
import { createTurns } from "../threads/turns.ts";
import { type DocumentLimits, defaultLimits, tooComplex } from "./limits.ts";
import type { ReaderTask } from "./reader-worker.ts";

export type { DocumentLimits } from "./limits.ts";

/** The most threads at once in this process: more would only compete for the processor and memory. */
const maxThreads = 2;

type Outcome = ReadDocument | UnreadableDocument;

export function openDocumentReader(changed: Partial<DocumentLimits> = {}): DocumentReader {
  const limits = { ...defaultLimits, ...changed };
  const turns = createTurns(maxThreads);
  return {
    read: (file, { signal }) => turns.take(() => readInThread({ file, limits }, signal)),
  };
}

/** A document keeps its turn until its thread has ended. */
async function readInThread({ file, limits }: ReaderTask, signal: AbortSignal): Promise<Reading> {
  const bytes = withOwnBuffer(file.bytes);
  const { message, tookMs } = await runInThread({
    source: new URL("./reader-worker", import.meta.url),
    importer: import.meta.url,
    workerData: { file: { ...file, bytes }, limits } satisfies ReaderTask,
    transferred: bytes,
    timeMs: limits.timeMs + (file.bytes.length / 1_000_000) * limits.megabyteMs,
    memoryMb: limits.memoryMb,
    signal,
  });
  // The thread posts its outcome and nothing else.
  const outcome = message as Outcome | undefined;
  const given: Outcome = outcome ?? { outcome: "unreadable", reason: "too_complex", detail: tooComplex };
  return { ...given, tookMs };
}
