/** Removes what backups that were killed left in a folder. */
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";

/** Longer than a backup takes. */
const staleMs = 24 * 3_600_000;

export async function removeLeftovers(folder: string, isOfBackup: (name: string) => boolean): Promise<void> {
  // A folder that is missing has none.
  const names = await readdir(folder).catch(() => []);
  for (const path of names.filter(isOfBackup).map((name) => join(folder, name))) {
    // Another backup may be removing it too, or may have moved it into place.
    const found = await stat(path).catch(() => undefined);
    if (found && Date.now() - found.mtimeMs > staleMs) {
      await rm(path, { recursive: true, force: true });
    }
  }
}
