/** Cuts standard input into lines, none of which may be longer than any message that means something. */
import type { Readable } from "node:stream";

/** Bytes: a file of 32 MB, the largest that may be uploaded, is 44.7 million of them as base64. */
export const maxLineBytes = 48_000_000;

const lineFeed = 0x0a;

/**
 * Lines end with a line feed and nothing else: newer readlines also end them at U+2028, which JSON may hold.
 * One that is too long is refused when it becomes so, for its end may never come.
 */
export function readLines(input: Readable, onLine: (line: string) => void, onLineTooLong: () => void): void {
  let pieces: Buffer[] = [];
  let size = 0;
  const add = (piece: Buffer) => {
    const was = size;
    size += piece.length;
    if (size <= maxLineBytes) {
      pieces.push(piece);
    } else if (was <= maxLineBytes) {
      pieces = [];
      onLineTooLong();
    }
  };
  const end = () => {
    if (size <= maxLineBytes) {
      onLine(Buffer.concat(pieces).toString());
    }
    pieces = [];
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
