/** Removes what backups that were killed left in the data folder. */
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";

/** Longer than a backup takes. */
const staleMs = 24 * 3_600_000;

export async function removeLeftovers(folder: string, isOfBackup: (name: string) => boolean): Promise<void> {
  for (const path of (await readdir(folder)).filter(isOfBackup).map((name) => join(folder, name))) {
    const { mtimeMs } = await stat(path);
    if (Date.now() - mtimeMs > staleMs) {
      await rm(path, { recursive: true, force: true });
    }
  }
}
