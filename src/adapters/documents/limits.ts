/** The limits of one document, and the error of a document that can't be read. */
import type { UnreadableReason } from "../../ports/files/document-reader.ts";

export interface DocumentLimits {
  /** The time for any document, and the additional time for each megabyte of its file. */
  readonly timeMs: number;
  readonly megabyteMs: number;
  /** The limit of the thread's heap, and of the memory that the thread allocates outside of it. */
  readonly memoryMb: number;
  readonly pages: number;
  /** Characters of all blocks. */
  readonly textLength: number;
  /** Elements of an HTML page. */
  readonly elements: number;
  /** Blocks, and rows of tables. The main thread cleans them: 100,000 take about 0.2 s. */
  readonly parts: number;
}

/** A manual of 1,000 pages has about 2 million characters and is read in 3 s. */
export const defaultLimits: DocumentLimits = {
  timeMs: 5_000,
  megabyteMs: 2_000,
  memoryMb: 384,
  pages: 1_000,
  textLength: 3_000_000,
  elements: 300_000,
  parts: 100_000,
};

/** The limit of nested elements: the parser's time grows with the square of the depth. */
export const maxDepth = 1_000;

export class UnreadableError extends Error {
  override readonly name = "UnreadableError";
  readonly reason: UnreadableReason;

  constructor(reason: UnreadableReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

export const tooComplex =
  "Reading it takes too much time or memory. Split it, or send its text as markdown in content.";
