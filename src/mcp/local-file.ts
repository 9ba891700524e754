/**
 * Opens a file of this machine for an upload: only inside the folder that the operator opened.
 *
 * The path is followed to its end first, so that no symbolic link leads out; what was checked is what is
 * read, because the file is then read by its handle. Nothing but a plain file is opened.
 */
import { constants } from "node:fs";
import { type FileHandle, open, realpath } from "node:fs/promises";
import { basename, isAbsolute, relative, resolve } from "node:path";
import { fail } from "../../tools/errors.ts";
import { maxUploadBytes } from "../../tools/uploads.ts";
import type { FileToSend } from "../client/index.ts";

export interface LocalFile extends FileToSend, AsyncDisposable {}

/** @throws Failure `file_path_not_allowed`, the same for what is outside and for what is not there; `file_too_large`. */
export async function openLocalFile(root: string, path: string): Promise<LocalFile> {
  const folder = await realpath(root).catch(() => undefined);
  const real = folder && (await realpath(resolve(folder, path)).catch(() => undefined));
  if (folder === undefined || real === undefined || !isInside(folder, real)) {
    throw refused(root);
  }
  // The last step must still be no link, and a pipe must not be waited for.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(real, flags).catch(() => undefined);
  if (!handle) {
    throw refused(root);
  }
  try {
    return await describe(handle, { root, folder, real, name: basename(path) });
  } catch (error) {
    await handle.close();
    throw error;
  }
}

interface Found {
  readonly root: string;
  readonly folder: string;
  readonly real: string;
  readonly name: string;
}

async function describe(handle: FileHandle, { root, folder, real, name }: Found): Promise<LocalFile> {
  const facts = await handle.stat();
  // A folder on the way may have become a link since it was followed.
  const isStill = (await realpath(real).catch(() => undefined)) === real && isInside(folder, real);
  if (!facts.isFile() || !isStill) {
    throw refused(root);
  }
  if (facts.size > maxUploadBytes) {
    throw fail("file_too_large", { limit: maxUploadBytes, param: "file_path" });
  }
  return {
    name,
    size: facts.size,
    async *open() {
      if (facts.size > 0) {
        yield* handle.createReadStream({ start: 0, end: facts.size - 1, autoClose: false });
      }
    },
    [Symbol.asyncDispose]: () => handle.close(),
  };
}

function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== "" && way !== ".." && !/^\.\.[/\\]/.test(way) && !isAbsolute(way);
}

function refused(root: string) {
  return fail("file_path_not_allowed", { folder: root, param: "file_path" });
}
