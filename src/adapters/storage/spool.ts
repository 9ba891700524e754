/**
 * A folder for files that are still being received.
 *
 * A body is streamed to disk, so that the memory in use does not grow with it, and is passed on when it is
 * complete. Files that a killed process left behind are removed later, when no process can still be writing
 * them.
 */
import { randomUUID } from "node:crypto";
import { mkdir, open, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";

/** Receiving a request never takes longer. */
const staleMs = 3_600_000;

export interface SpooledFile {
  readonly path: string;
  readonly size: number;
}

export interface Spool {
  /** Writes a body to disk, passes the file to `use`, and removes the file if it still exists. */
  withFile<Value>(
    body: AsyncIterable<Uint8Array>,
    use: (file: SpooledFile) => Promise<Value>,
  ): Promise<Value>;
}

export function createSpool(folder: string): Spool {
  let opening: Promise<void> | undefined;
  let openedAt = 0;
  const openOnce = () => {
    // Repeated hourly: a file that was recent when the process started becomes stale later.
    if (Date.now() - openedAt > staleMs) {
      openedAt = Date.now();
      opening = undefined;
    }
    opening ??= prepareFolder(folder).catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };
  return {
    async withFile(body, use) {
      await openOnce();
      const path = join(folder, randomUUID());
      try {
        const size = await writeBody(path, body);
        return await use({ path, size });
      } finally {
        await rm(path, { force: true });
      }
    },
  };
}

async function writeBody(path: string, body: AsyncIterable<Uint8Array>): Promise<number> {
  const file = await open(path, "wx", 0o600);
  try {
    for await (const chunk of body) {
      await file.writeFile(chunk);
    }
    // A file that is reported as stored must survive a power failure.
    await file.datasync();
    return (await file.stat()).size;
  } finally {
    await file.close();
  }
}

async function prepareFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
    if (Date.now() - mtimeMs > staleMs) {
      await rm(path, { force: true });
    }
  }
}
