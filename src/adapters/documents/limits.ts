/** The limits of one document, and the error of a document that can't be read. */
import type { UnreadableReason } from "../../ports/files/document-reader.ts";

export interface DocumentLimits {
  /** Of any document, and for each megabyte of its file besides. */
  readonly timeMs: number;
  readonly megabyteMs: number;
  /** Of the thread's heap, and of what it allocates outside of it. */
  readonly memoryMb: number;
  readonly pages: number;
  /** Characters of all blocks. */
  readonly textLength: number;
  /** Elements of an HTML page. */
  readonly elements: number;
  /** Blocks and rows of tables. The thread of the service cleans them, some 100,000 in 0.2 s. */
  readonly parts: number;
}

/** A manual of 1,000 pages has some 2 million characters and is read in 3 s. */
export const defaultLimits: DocumentLimits = {
  timeMs: 5_000,
  megabyteMs: 2_000,
  memoryMb: 384,
  pages: 1_000,
  textLength: 3_000_000,
  elements: 300_000,
  parts: 100_000,
};

/** How deep elements may be nested: the parser's time grows with the square of it. */
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
