/**
 * Inspects a file while it is streamed to the store, and throws as soon as it is not allowed.
 *
 * Also computes size and hash. The type is detected from the first bytes; signatures are searched in the
 * whole file. An error aborts the write to the store, which then deletes the file.
 */
import { createHash } from "node:crypto";
import { fileTypeFromBuffer } from "file-type/core";
import { fail } from "../../../../tools/errors.ts";
import { maxUploadBytes } from "../../../../tools/uploads.ts";
import type { FileKind } from "./kinds.ts";
import { scanSignatures } from "./signatures.ts";
import { createTextCheck } from "./text-check.ts";

/** The detector needs a few kilobytes, and more for some containers. */
const headBytes = 64 * 1024;

export interface Inspection {
  /**
   * Yields the same bytes.
   * @throws Failure if the file is too large, empty, unsafe, or not of its declared type.
   */
  pass(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array>;
  /** Complete after the last byte. */
  facts(): { readonly size: number; readonly sha256: string };
}

export function inspectFile(kind: FileKind, limit = maxUploadBytes): Inspection {
  const hash = createHash("sha256");
  const signatures = scanSignatures(kind.contentRule);
  const text = kind.contentRule.isText ? createTextCheck() : undefined;
  let size = 0;
  const inspect = (chunk: Uint8Array) => {
    size += chunk.length;
    if (size > limit) {
      throw fail("file_too_large", { limit, param: "file" });
    }
    const forbidden = signatures.scan(chunk);
    if (forbidden !== undefined) {
      throw fail("file_unsafe", { value: forbidden, param: "file" });
    }
    text?.scan(chunk);
    hash.update(chunk);
  };
  const finish = () => {
    if (size === 0) {
      throw fail("file_empty", { param: "file" });
    }
    text?.end();
    const [missing] = signatures.missing();
    if (missing !== undefined) {
      throw mismatch(kind, `it does not contain ${missing}`);
    }
  };
  return {
    async *pass(body) {
      const head: Uint8Array[] = [];
      for await (const chunk of body) {
        const missing = headBytes - size;
        inspect(chunk);
        if (missing > 0) {
          // Copied: the source of the chunks may reuse their memory.
          head.push(Uint8Array.from(chunk.subarray(0, missing)));
          if (size >= headBytes) {
            await requireHead(kind, Buffer.concat(head));
          }
        }
        yield chunk;
      }
      if (size < headBytes) {
        await requireHead(kind, Buffer.concat(head));
      }
      finish();
    },
    facts: () => ({ size, sha256: hash.copy().digest("hex") }),
  };
}

/** @throws Failure `file_type_mismatch`, `file_unsafe`. */
async function requireHead(kind: FileKind, head: Buffer): Promise<void> {
  const { magicBytes, detectedTypes } = kind.contentRule;
  const detected = (await fileTypeFromBuffer(head))?.mime;
  const isExpected =
    detectedTypes.includes(detected) &&
    (!magicBytes || head.subarray(0, magicBytes.length).equals(magicBytes));
  if (!isExpected && head.length > 0) {
    const content = detected === undefined ? "something else" : detected;
    throw mismatch(kind, `its content is ${content}`);
  }
  // GIF and JPEG files that are also JavaScript: the size, or the length of the first segment, opens a
  // comment.
  const commentAt = { "image/gif": 6, "image/jpeg": 4 }[kind.type];
  if (commentAt !== undefined && head.toString("latin1", commentAt, commentAt + 2) === "/*") {
    throw fail("file_unsafe", { value: "a script in its header", param: "file" });
  }
}

function mismatch(kind: FileKind, difference: string) {
  return fail("file_type_mismatch", {
    reason: `by its name it is ${kind.type}, but ${difference}.`,
    param: "file",
  });
}
