/** Tags of imported contacts: a file that sets them requires the scope that manages tags. */
import { missingScope, type Scope } from "../../../../tools/contract/index.ts";
import { fail } from "../../../../tools/errors.ts";
import type { UploadRow } from "../../content/uploads/index.ts";
import type { Caller, World } from "../../foundation/kernel/index.ts";
import { readCsv, UnreadableFileError } from "./csv.ts";
import { type ImportColumns, readHeader } from "./row.ts";

const tagScope: Scope = "contacts:manage";

export function maySetTags({ scopes }: Pick<Caller, "scopes">): boolean {
  return scopes.has(tagScope);
}

/** @throws Failure `tags_not_permitted` for a file with a column of tags. */
export function rejectTags(columns: ImportColumns): void {
  if (columns.includes("tags")) {
    throw fail("tags_not_permitted", missingScope(tagScope));
  }
}

/**
 * Checks the first line of an upload before its import is created. If the file is not known yet, the job
 * checks it.
 * @throws Failure `tags_not_permitted`.
 */
export async function requireTagScope(world: World, { key, content_type }: UploadRow): Promise<void> {
  const file = content_type === "text/csv" ? await world.storage.read(key) : undefined;
  const columns = file && (await readColumns(file));
  if (columns) {
    rejectTags(columns);
  }
}

/** Returns undefined for a file whose first line can't be read: its import fails with the reason. */
async function readColumns(file: AsyncIterable<Uint8Array>): Promise<ImportColumns | undefined> {
  try {
    for await (const { cells } of readCsv(file)) {
      return readHeader(cells);
    }
    return undefined;
  } catch (error) {
    if (error instanceof UnreadableFileError) {
      return undefined;
    }
    throw error;
  }
}
