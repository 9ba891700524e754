/** Writes the content of a database, and the files that it names, to the archive of a backup. */

import type { Database, DatabaseTransaction } from "../../../database/database.ts";
import { tablesOfProcesses } from "../../../jobs/processes/index.ts";
import type { Storage } from "../../../ports/files/storage.ts";
import { collectBytes } from "../../../streams/bytes.ts";
import { version } from "../../version.ts";
import type { ArchiveWriter } from "./archive/index.ts";
import { type ConfiguredSecrets, ContentCheck } from "./content.ts";
import {
  type BackupTable,
  dumpRows,
  listBackupTables,
  listMigrations,
  listSequences,
  readOneState,
} from "./database/index.ts";
import {
  type BackupEnd,
  endName,
  fileFolder,
  fingerprintOf,
  formatVersion,
  type Manifest,
  manifestName,
  rowsName,
} from "./manifest.ts";

export interface BackupOrigin {
  readonly database: Database;
  readonly storage: Storage;
  readonly secrets: ConfiguredSecrets;
  /** The secret in the database; undefined before the first start. */
  readonly generatedSecret: string | undefined;
}

/** Bounds the memory, and the size of an entry. */
const partBytes = 4 * 1024 * 1024;

/** The result has been checked like a backup that is read. */
export async function writeBackup(
  archive: ArchiveWriter,
  origin: BackupOrigin,
): Promise<ReturnType<ContentCheck["finish"]>> {
  const { check, rows } = await readOneState(origin.database, (tx) => writeDatabase(archive, origin, tx));
  const end: BackupEnd = { rows, ...(await writeFiles(archive, origin.storage, check)) };
  await archive.addText(endName, JSON.stringify(end));
  return check.finish(end);
}

async function writeDatabase(archive: ArchiveWriter, origin: BackupOrigin, tx: DatabaseTransaction) {
  const manifest = await describeDatabase(origin, tx);
  await archive.addText(manifestName, JSON.stringify(manifest, null, 2));
  const check = new ContentCheck(manifest, origin.secrets);
  const rows: Record<string, number> = {};
  for (const table of manifest.tables) {
    rows[table.name] = await writeTable(archive, tx, { table, check });
  }
  return { check, rows };
}

async function describeDatabase(
  { database, secrets, generatedSecret }: BackupOrigin,
  tx: DatabaseTransaction,
): Promise<Manifest> {
  const secret = secrets.secret ?? generatedSecret ?? "";
  return {
    format: "tidings-backup",
    format_version: formatVersion,
    tidings_version: version,
    engine: database.engine,
    created_at: new Date().toISOString(),
    migrations: [...(await listMigrations(tx))],
    secret: { fingerprint: fingerprintOf(secret), is_generated: secrets.secret === undefined },
    tables: (await listBackupTables(tx, tablesOfProcesses)).map(({ name, columns }) => ({
      name,
      columns: [...columns],
    })),
    sequences: [...(await listSequences(tx))],
  };
}

/** The number of rows. */
async function writeTable(
  archive: ArchiveWriter,
  tx: DatabaseTransaction,
  { table, check }: { readonly table: BackupTable; readonly check: ContentCheck },
): Promise<number> {
  let lines: string[] = [];
  let [bytes, count, part] = [0, 0, 0];
  const write = async () => {
    part += 1;
    await archive.addText(rowsName(table.name, part), lines.map((line) => `${line}\n`).join(""));
    lines = [];
    bytes = 0;
  };
  for await (const batch of dumpRows(tx, table)) {
    for (const line of batch) {
      check.addLine(table, line);
      lines.push(line);
      bytes += Buffer.byteLength(line);
      if (bytes >= partBytes) {
        await write();
      }
    }
    count += batch.length;
  }
  if (lines.length > 0) {
    await write();
  }
  return count;
}

/**
 * A file is read as a whole, because its size comes first: it has at most the size of an upload. A file that
 * was deleted after the rows were read is missing.
 */
async function writeFiles(archive: ArchiveWriter, storage: Storage, check: ContentCheck) {
  const missing_files: string[] = [];
  let files = 0;
  for (const key of check.files.keys()) {
    const bytes = await readFile(storage, key);
    if (bytes === undefined) {
      missing_files.push(key);
      continue;
    }
    await archive.add({ name: fileFolder + key, size: bytes.length, body: [bytes] });
    check.addFile(key, bytes);
    files += 1;
  }
  return { files, missing_files, damaged_files: [...check.damagedFiles] };
}

/** Errors of one file on a disk, beside which the others can be read. */
const unreadable: ReadonlySet<unknown> = new Set(["EISDIR", "EIO", "EACCES"]);

/** Undefined if it does not exist, or can't be read. */
async function readFile(storage: Storage, key: string): Promise<Uint8Array | undefined> {
  try {
    const body = await storage.read(key);
    return body && (await collectBytes(body, Number.POSITIVE_INFINITY)).bytes;
  } catch (error) {
    if (error instanceof Error && "code" in error && unreadable.has(error.code)) {
      return undefined;
    }
    throw error;
  }
}
