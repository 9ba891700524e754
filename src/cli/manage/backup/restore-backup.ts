/**
 * Restores a backup into an empty database of either engine, and its files into the storage.
 *
 * The tables are created as they were in the backup, filled in one transaction, which also holds the
 * installation, and then migrated. An embedded database is built in a folder of its own and moved into place
 * at the end. So after an error or a crash there is no half restored service. Files that were written stay:
 * in a bucket they may be those of the service that made the backup.
 */
import { existsSync } from "node:fs";
import { readdir, rename, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { openStorage } from "../../../adapters/storage/index.ts";
import type { Config } from "../../../config/index.ts";
import { openDatabase } from "../../../database/connect.ts";
import type { Database } from "../../../database/database.ts";
import { migrate, readMigrationState } from "../../../database/migrate.ts";
import { migrations } from "../../../database/migrations/index.ts";
import { sqlState } from "../../../database/outage/index.ts";
import { readOwner } from "../../../database/ownership/index.ts";
import { tablesOfProcesses } from "../../../jobs/processes/index.ts";
import { storedHeaders } from "../../../platform/content/uploads/index.ts";
import { hasOrganizations, holdRestored } from "../../../platform/operations/restore/index.ts";
import { CommandError } from "../../commands/command-error.ts";
import { openDataFolder } from "../../data-folder/data-folder.ts";
import { silentLog } from "../../lazy-log.ts";
import { damageError, type ReadEntry } from "./archive/index.ts";
import type { ContentReport } from "./content.ts";
import { type BackupTable, findForeignTable, loadAll, loadRows, loadSequences } from "./database/index.ts";
import { fingerprintOf, type Manifest } from "./manifest.ts";
import { readBackup } from "./read-backup.ts";

export interface RestoreOptions {
  readonly config: Config;
  readonly manifest: Manifest;
  readonly entries: AsyncIterable<ReadEntry>;
  readonly file: string;
}

export interface RestoreReport {
  /** Where it was restored to. */
  readonly restored_to: string;
  readonly report: ContentReport;
}

/** @throws CommandError if the backup is damaged, or the place is not empty; the database stays empty. */
export async function restoreBackup(options: RestoreOptions): Promise<RestoreReport> {
  const { config, manifest } = options;
  const unknown = manifest.migrations.find((name) => !Object.hasOwn(migrations, name));
  if (unknown !== undefined) {
    throw new CommandError(
      `A newer version of Tidings made this backup: its schema has ${unknown}. Use that version, or a newer one.`,
    );
  }
  requireSecret(config, manifest);
  return config.databaseUrl === undefined
    ? await restoreEmbedded(options)
    : await restorePostgres(config.databaseUrl, options);
}

/** @throws CommandError if the settings do not have the secret that opens the sealed values. */
function requireSecret({ secret, previousSecret }: Config, { secret: used }: Manifest): void {
  const known = [secret, previousSecret].some((one) => one && fingerprintOf(one) === used.fingerprint);
  if (!used.is_generated && !known) {
    throw new CommandError(
      `The backup was made with another TIDINGS_SECRET (fingerprint ${used.fingerprint}). Set that secret, or set it as TIDINGS_PREVIOUS_SECRET beside a new one.`,
    );
  }
}

async function restorePostgres(url: string, options: RestoreOptions): Promise<RestoreReport> {
  await using database = await openDatabase({
    url,
    dataDir: options.config.dataDir,
    poolSize: 1,
    log: silentLog,
  });
  const report = await fillDatabase(database, options);
  return { restored_to: "the database of DATABASE_URL", report };
}

async function restoreEmbedded(options: RestoreOptions): Promise<RestoreReport> {
  const { path } = await openDataFolder(options.config.dataDir);
  const target = join(path, "database");
  const draft = join(path, "restoring");
  if (existsSync(target) && (await readdir(target)).length > 0) {
    throw new CommandError(
      `${path} has a database already. Set TIDINGS_DATA_DIR or --data-dir to a new folder, or move ${target} away.`,
    );
  }
  if (existsSync(draft) && (await readOwner(draft))) {
    throw new CommandError(`Another restore into ${path} runs: wait for it.`);
  }
  await rm(draft, { recursive: true, force: true });
  const isOlder = options.manifest.migrations.length < Object.keys(migrations).length;
  const settings = { url: undefined, dataDir: draft, startsEmpty: isOlder, log: silentLog };
  try {
    const report = await fill(await openDatabase(settings), options);
    if (existsSync(target)) {
      await rmdir(target);
    }
    await rename(join(draft, "database"), target);
    return { restored_to: path, report };
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function fill(opened: Database, options: RestoreOptions): Promise<ContentReport> {
  await using database = opened;
  return await fillDatabase(database, options);
}

async function fillDatabase(database: Database, options: RestoreOptions): Promise<ContentReport> {
  const { manifest, config } = options;
  await requireEmpty(database, manifest);
  await migrate(database, Object.fromEntries(manifest.migrations.map((name) => [name, migrationOf(name)])));
  const storage = openStorage(config);
  const report = await loadAll(database, tablesOfProcesses, async (tx, existing) => {
    const tables = matchTables(manifest, existing);
    const { problems, report } = await readBackup(manifest, options.entries, {
      secrets: config,
      file: options.file,
      onRows: async ({ name }, lines) => {
        try {
          await loadRows(tx, tables(name), lines);
        } catch (error) {
          throw /^2[23]/.test(sqlState(error) ?? "")
            ? damageError(options.file, `the database rejects its rows of ${name}`, error)
            : error;
        }
      },
      onFile: ({ key, bytes, upload }) => storage.write(key, inChunks(bytes), storedHeaders(upload)),
    });
    if (problems.length > 0) {
      throw new CommandError(["Nothing was restored.", ...problems].join("\n"));
    }
    await loadSequences(tx, manifest.sequences);
    await holdRestored(tx, manifest.created_at);
    return report;
  });
  await migrate(database);
  return report;
}

async function* inChunks(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** @throws CommandError if anything was stored here before. */
async function requireEmpty(database: Database, manifest: Manifest): Promise<void> {
  const place = database.engine === "postgres" ? "The database of DATABASE_URL" : "The database";
  const another = "Create another database with createdb, and set DATABASE_URL to it";
  const foreign = await findForeignTable(database);
  if (foreign !== undefined) {
    throw new CommandError(`${place} has the table ${foreign}, which is not of Tidings. ${another}.`);
  }
  const { pending, unknown, hasTables } = await readMigrationState(database.queries);
  if (hasTables && (await hasOrganizations(database))) {
    throw new CommandError(`${place} is in use: it has organizations. ${another}.`);
  }
  const isOlder = manifest.migrations.some((name) => pending.includes(name));
  const hasNewer = Object.keys(migrations).some(
    (name) => !pending.includes(name) && !manifest.migrations.includes(name),
  );
  if (unknown.length > 0 || (hasTables && (isOlder || hasNewer))) {
    throw new CommandError(`${place} has the tables of another version than the backup. ${another}.`);
  }
}

function migrationOf(name: string) {
  const migration = migrations[name];
  if (migration === undefined) {
    throw new Error(`There is no migration ${name}.`); // excluded by restoreBackup
  }
  return migration;
}

/**
 * The tables of the backup with the types of this database, never those that the backup names, because they
 * become part of statements.
 */
function matchTables({ tables }: Manifest, existing: readonly BackupTable[]): (name: string) => BackupTable {
  const matched = tables.map(({ name, columns }): [string, BackupTable] => {
    const table = existing.find((one) => one.name === name);
    const typed = columns.map((column) => table?.columns.find((one) => one.name === column.name));
    const known = typed.flatMap((column) => column ?? []);
    if (table === undefined || known.length < columns.length || known.length < table.columns.length) {
      throw new CommandError(`The backup has other columns of ${name} than its version had: it is damaged.`);
    }
    return [name, { name, columns: known }];
  });
  const byName = new Map(matched);
  return (name) => byName.get(name) ?? { name, columns: [] };
}
