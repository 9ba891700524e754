/**
 * Opens a local file for an upload, only inside the folder that the operator configured.
 *
 * The path is resolved first, so that no symbolic link leads out of the folder. The file is then read by its
 * handle, so that the file that was checked is the one that is read. Only regular files are accepted.
 */
import { constants } from "node:fs";
import { type FileHandle, open, realpath } from "node:fs/promises";
import { basename, isAbsolute, relative, resolve } from "node:path";
import { fail } from "../../../tools/errors.ts";
import { maxUploadBytes } from "../../../tools/uploads.ts";
import type { FileToSend } from "../../client/index.ts";

export interface LocalFile extends FileToSend, AsyncDisposable {}

/** @throws Failure `file_path_not_allowed` for a file that is outside or missing; `file_too_large`. */
export async function openLocalFile(root: string, path: string): Promise<LocalFile> {
  const folder = await realpath(root).catch(() => undefined);
  const real = folder && (await realpath(resolve(folder, path)).catch(() => undefined));
  if (folder === undefined || real === undefined || !isInside(folder, real)) {
    throw notAllowed(root);
  }
  // The file may have become a link since; and opening a pipe must not block.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(real, flags).catch(() => undefined);
  if (!handle) {
    throw notAllowed(root);
  }
  try {
    return await toLocalFile(handle, { root, folder, real, name: basename(path) });
  } catch (error) {
    await handle.close();
    throw error;
  }
}

interface ResolvedPath {
  readonly root: string;
  readonly folder: string;
  readonly real: string;
  readonly name: string;
}

async function toLocalFile(
  handle: FileHandle,
  { root, folder, real, name }: ResolvedPath,
): Promise<LocalFile> {
  const stats = await handle.stat();
  // A folder of the path may have become a link since it was resolved.
  const isUnchanged = (await realpath(real).catch(() => undefined)) === real && isInside(folder, real);
  if (!stats.isFile() || !isUnchanged) {
    throw notAllowed(root);
  }
  if (stats.size > maxUploadBytes) {
    throw fail("file_too_large", { limit: maxUploadBytes, param: "file_path" });
  }
  return {
    name,
    size: stats.size,
    async *open() {
      if (stats.size > 0) {
        yield* handle.createReadStream({ start: 0, end: stats.size - 1, autoClose: false });
      }
    },
    [Symbol.asyncDispose]: () => handle.close(),
  };
}

function isInside(folder: string, path: string): boolean {
  const relativePath = relative(folder, path);
  return (
    relativePath !== "" &&
    relativePath !== ".." &&
    !/^\.\.[/\\]/.test(relativePath) &&
    !isAbsolute(relativePath)
  );
}

function notAllowed(root: string) {
  return fail("file_path_not_allowed", { folder: root, param: "file_path" });
}
