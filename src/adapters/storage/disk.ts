/**
 * Stores files in a local folder. A file is written to a spool first, and moved into place when it is
 * complete.
 */
import { createReadStream } from "node:fs";
import { access, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { ByteRange, Storage } from "../../ports/files/storage.ts";
import { requireStorageKey } from "./key.ts";
import { createSpool } from "./spool.ts";
import { createSyncedFolder, syncFolder } from "./sync-folder.ts";

export function createDiskStorage(folder: string): Storage {
  const storedFolder = join(folder, "kept");
  // On the same disk, because a rename is atomic only within a disk.
  const spool = createSpool(join(folder, "arriving"));
  const pathOf = (key: string) => join(storedFolder, requireStorageKey(key));
  return {
    async write(key, body) {
      const path = pathOf(key);
      await spool.withFile(body, async (arrived) => {
        await createSyncedFolder(dirname(path));
        await rename(arrived.path, path);
        await syncFolder(dirname(path));
      });
    },

    async read(key, range) {
      const path = pathOf(key);
      const exists = await access(path).then(() => true, undefinedIfMissing);
      return exists ? readPart(path, range) : undefined;
    },

    async delete(key) {
      await rm(pathOf(key), { force: true });
    },

    async presign() {
      return undefined;
    },
  };
}

/** Opens the file when its first bytes are read, so that an unread body leaves nothing open. */
async function* readPart(path: string, range: ByteRange | undefined): AsyncGenerator<Uint8Array> {
  yield* createReadStream(path, range);
}

function undefinedIfMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") {
    throw error;
  }
}
