/** Unpacks the archive of an empty database, which is much faster than initdb and the migrations. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

/** The block size of the tar format: a header of one block, then the content, padded to a whole block. */
const blockBytes = 512;

/**
 * Creates the folder `data` from the archive in one step: after a crash the folder is either complete or does
 * not exist. A folder that is not empty is left unchanged. Without the archive, the folder is created empty.
 */
export function unpackNew(data: string, archive: string | undefined): void {
  const draft = `${data}.new`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(data, { recursive: true, mode: 0o700 });
  if (readdirSync(data).length > 0 || archive === undefined || !existsSync(archive)) {
    return;
  }
  unpack(gunzipSync(readFileSync(archive)), draft);
  // On Windows a folder can't be replaced.
  rmdirSync(data);
  renameSync(draft, data);
}

/** Unpacks plain files and folders with names of fewer than 100 bytes; the engine writes no others. */
function unpack(tar: Buffer, folder: string): void {
  mkdirSync(folder, { mode: 0o700 });
  for (let at = 0; tar[at]; ) {
    const path = join(folder, readText(tar, at, 100));
    const size = Number.parseInt(readText(tar, at + 124, 12), 8);
    const isFolder = readText(tar, at + 156, 1) === "5";
    at += blockBytes;
    if (isFolder) {
      mkdirSync(path, { recursive: true, mode: 0o700 });
    } else {
      writeFileSync(path, tar.subarray(at, at + size), { mode: 0o600 });
    }
    at += Math.ceil(size / blockBytes) * blockBytes;
  }
}

/** A field of the header: text up to a null byte. */
function readText(tar: Buffer, at: number, length: number): string {
  const text = tar.toString("latin1", at, at + length);
  return text.split("\0", 1)[0] ?? "";
}
