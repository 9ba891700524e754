/** Reads the content of a backup, and checks it. */

import { damageError, parseAs, type ReadEntry, readWhole, toText } from "./archive/index.ts";
import { type BackupFile, type ConfiguredSecrets, ContentCheck } from "./content.ts";
import type { BackupTable } from "./database/index.ts";
import { type BackupEnd, EndSchema, endName, fileFolder, type Manifest, tableOf } from "./manifest.ts";

export interface ReadOptions {
  readonly secrets: ConfiguredSecrets;
  /** The name of the backup in errors. */
  readonly file: string;
  onRows?(table: BackupTable, lines: readonly string[]): Promise<void>;
  onFile?(file: {
    readonly key: string;
    readonly bytes: Uint8Array;
    readonly upload: BackupFile;
  }): Promise<void>;
}

/** @throws CommandError if it can't be read to its end. */
export async function readBackup(
  manifest: Manifest,
  entries: AsyncIterable<ReadEntry>,
  { secrets, file, onRows, onFile }: ReadOptions,
): Promise<ReturnType<ContentCheck["finish"]>> {
  const check = new ContentCheck(manifest, secrets);
  const tables = new Map(manifest.tables.map((table) => [table.name, table]));
  let end: BackupEnd | undefined;
  for await (const entry of entries) {
    const { name } = entry;
    const bytes = await readWhole(entry, file);
    const table = tables.get(tableOf(name) ?? "");
    if (table) {
      const lines = toText(bytes).split("\n").slice(0, -1);
      try {
        for (const line of lines) {
          check.addLine(table, line);
        }
      } catch (cause) {
        throw damageError(file, `a row of ${table.name} can't be read`, cause);
      }
      await onRows?.(table, lines);
    } else if (name.startsWith(fileFolder)) {
      const key = name.slice(fileFolder.length);
      const upload = check.addFile(key, bytes);
      if (upload) {
        await onFile?.({ key, bytes, upload });
      }
    } else if (name === endName) {
      end = parseAs(EndSchema, toText(bytes), file);
    } else {
      throw damageError(file, `it has the entry ${name}, which no backup has`);
    }
  }
  return check.finish(end);
}
