/**
 * Looks at a file while it streams by, and stops it as soon as it may not be kept.
 *
 * Size and hash are counted on the way. The head is enough to tell what it is; marks are searched to the
 * end. What throws in here ends the write, which then leaves nothing.
 */
import { createHash } from "node:crypto";
import { fileTypeFromBuffer } from "file-type/core";
import { fail } from "../../../tools/errors.ts";
import { maxUploadBytes } from "../../../tools/uploads.ts";
import type { Kind } from "./kinds.ts";
import { searchMarks } from "./marks.ts";
import { checkText } from "./text.ts";

/** The detector needs a few kilobytes, of some containers more. */
const headBytes = 64 * 1024;

export interface Inspection {
  /** The same bytes. @throws Failure for a file that is too large, empty, or not what it is called. */
  pass(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array>;
  /** After the last byte. */
  facts(): { readonly size: number; readonly sha256: string };
}

export function inspect(kind: Kind, limit = maxUploadBytes): Inspection {
  const hash = createHash("sha256");
  const marks = searchMarks(kind.trait);
  const text = kind.trait.isText ? checkText() : undefined;
  let size = 0;
  const see = (chunk: Uint8Array) => {
    size += chunk.length;
    if (size > limit) {
      throw fail("file_too_large", { limit, param: "file" });
    }
    const found = marks.see(chunk);
    if (found !== undefined) {
      throw fail("file_unsafe", { value: found, param: "file" });
    }
    text?.see(chunk);
    hash.update(chunk);
  };
  const end = () => {
    if (size === 0) {
      throw fail("file_empty", { param: "file" });
    }
    text?.end();
    const [missing] = marks.missing();
    if (missing !== undefined) {
      throw mismatch(kind, `there is no ${missing} in it`);
    }
  };
  return {
    async *pass(body) {
      const head = collectHead();
      for await (const chunk of body) {
        see(chunk);
        if (head.takes(chunk)) {
          await requireHead(kind, head.bytes());
        }
        yield chunk;
      }
      if (head.isShort()) {
        await requireHead(kind, head.bytes());
      }
      end();
    },
    facts: () => ({ size, sha256: hash.copy().digest("hex") }),
  };
}

function collectHead() {
  const chunks: Uint8Array[] = [];
  let length = 0;
  return {
    /** Whether the head is whole now. */
    takes(chunk: Uint8Array): boolean {
      const wasShort = length < headBytes;
      if (wasShort) {
        // Copied: whoever sends the chunks may use their memory again.
        chunks.push(Uint8Array.from(chunk.subarray(0, headBytes - length)));
        length += chunk.length;
      }
      return wasShort && length >= headBytes;
    },
    isShort: () => length < headBytes,
    bytes: () => Buffer.concat(chunks),
  };
}

/** @throws Failure `file_type_mismatch`, `file_unsafe`. */
async function requireHead(kind: Kind, head: Buffer): Promise<void> {
  const { begins, detected } = kind.trait;
  const found = (await fileTypeFromBuffer(head))?.mime;
  const isRight = detected.includes(found) && (!begins || head.subarray(0, begins.length).equals(begins));
  if (!isRight && head.length > 0) {
    throw mismatch(kind, found === undefined ? "its content is something else" : `its content is ${found}`);
  }
  // GIF and JPEG files that are JavaScript too: the size, or the first segment's length, opens a comment.
  const commentAt = { "image/gif": 6, "image/jpeg": 4 }[kind.type];
  if (commentAt !== undefined && head.toString("latin1", commentAt, commentAt + 2) === "/*") {
    throw fail("file_unsafe", { value: "a script in its header", param: "file" });
  }
}

function mismatch(kind: Kind, what: string) {
  return fail("file_type_mismatch", {
    reason: `by its name it is ${kind.type}, but ${what}.`,
    param: "file",
  });
}
