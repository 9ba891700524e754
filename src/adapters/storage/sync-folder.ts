/** Syncs folders: after a power failure a new file is found only if its folder is on the disk. */
import { mkdir, open } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";

export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Creates a folder, and those above it that are missing, and syncs each folder that has a new one. */
export async function createSyncedFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: 0o700 });
  if (first === undefined) {
    return;
  }
  const existing = dirname(first);
  const created = relative(existing, path).split(sep);
  for (const depth of created.keys()) {
    await syncFolder(join(existing, ...created.slice(0, depth)));
  }
}
