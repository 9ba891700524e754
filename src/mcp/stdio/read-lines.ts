/** Splits standard input into lines of limited length. */
import type { Readable } from "node:stream";

/** The largest upload, 32 MB, takes 44.7 million bytes as base64. */
export const maxLineBytes = 48_000_000;

const lineFeed = 0x0a;

/**
 * Lines end with a line feed only: newer versions of readline also split at U+2028, which JSON may contain. A
 * line that becomes too long is reported at once, because its end may never come.
 */
export function readLines(input: Readable, onLine: (line: string) => void, onLineTooLong: () => void): void {
  let chunks: Buffer[] = [];
  let size = 0;
  const add = (chunk: Buffer) => {
    const previousSize = size;
    size += chunk.length;
    if (size <= maxLineBytes) {
      chunks.push(chunk);
    } else if (previousSize <= maxLineBytes) {
      chunks = [];
      onLineTooLong();
    }
  };
  const end = () => {
    if (size <= maxLineBytes) {
      onLine(Buffer.concat(chunks).toString());
    }
    chunks = [];
    size = 0;
  };
  input.on("data", (chunk: Buffer) => {
    let start = 0;
    for (let at = chunk.indexOf(lineFeed); at >= 0; at = chunk.indexOf(lineFeed, start)) {
      add(chunk.subarray(start, at));
      end();
      start = at + 1;
    }
    add(chunk.subarray(start));
  });
  input.once("end", end);
}
