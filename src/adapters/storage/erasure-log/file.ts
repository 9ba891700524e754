/**
 * A log of erasures in a file. Several processes may write to it: each writes a line at once, which the
 * operating system puts at the end.
 */
import { access, constants, type FileHandle, open, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { ErasureLog } from "../../../ports/files/erasure-log.ts";
import { syncFolder } from "../sync-folder.ts";
import { beginLine, erasureLine } from "./lines.ts";

interface ErasureFile extends ErasureLog {
  /** Writes from when on the log has every erasure, unless the log exists. */
  begin(at: string): Promise<void>;
  /** Its text; undefined if it does not exist. */
  read(): Promise<string | undefined>;
  /** @throws if it can't be written. Writes nothing. */
  check(): Promise<void>;
}

const lineEnd = 0x0a;

export function createErasureFile(path: string): ErasureFile {
  const write = (textAfter: (size: number) => string) =>
    withFile(path, async (file) => {
      const { size } = await file.stat();
      const text = textAfter(size);
      if (text !== "") {
        await writeAtOnce(file, (await isCutOff(file, size)) ? `\n${text}` : text);
        await file.sync();
      }
      if (size === 0) {
        await syncFolder(dirname(path));
      }
    });
  return {
    async begin(at) {
      await write((size) => (size === 0 ? beginLine(at) : ""));
    },

    // A log that does not exist begins with the erasure.
    async append(erasure) {
      await write((size) => (size === 0 ? beginLine(erasure.at) : "") + erasureLine(erasure));
    },

    async read() {
      return await readFile(path, "utf8").catch(undefinedIfMissing);
    },

    async check() {
      const exists = await access(path).then(() => true, undefinedIfMissing);
      await access(exists ? path : dirname(path), constants.W_OK);
    },
  };
}

async function withFile(path: string, work: (file: FileHandle) => Promise<void>): Promise<void> {
  const file = await open(path, "a+", 0o600);
  try {
    await work(file);
  } finally {
    await file.close();
  }
}

/** @throws if a part of the text was written, as on a full disk. */
async function writeAtOnce(file: FileHandle, text: string): Promise<void> {
  const bytes = Buffer.from(text);
  const { bytesWritten } = await file.write(bytes);
  if (bytesWritten < bytes.length) {
    throw new Error("A part of the line was written: the disk may be full.");
  }
}

/** Whether the last line has no end, because a crash or a full disk cut it off. */
async function isCutOff(file: FileHandle, size: number): Promise<boolean> {
  if (size === 0) {
    return false;
  }
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] !== lineEnd;
}

function undefinedIfMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") {
    throw error;
  }
}
