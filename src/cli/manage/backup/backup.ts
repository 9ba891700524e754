/**
 * `tidings backup`, `tidings verify-backup`, `tidings restore` and `tidings release`. Loads the service, as
 * few commands do.
 */
import { openStorage } from "../../../adapters/storage/index.ts";
import { type Config, readConfig } from "../../../config/index.ts";
import type { Database } from "../../../database/database.ts";
import { readMigrationState } from "../../../database/migrate.ts";
import { readSetting } from "../../../platform/foundation/settings.ts";
import { CommandError } from "../../commands/command-error.ts";
import { type CommandOptions, settingsOf } from "../../commands/options.ts";
import { describeValues, print } from "../../commands/print.ts";
import { requireStarted } from "../send.ts";
import { openArchive, readEncryption, writeArchive } from "./archive/index.ts";
import type { ContentReport } from "./content.ts";
import { openPlace } from "./place/index.ts";
import { readBackup } from "./read-backup.ts";
import { restoreBackup } from "./restore-backup.ts";
import { openSource } from "./source.ts";
import { writeBackup } from "./write-backup.ts";

export { runRelease } from "./release.ts";

export async function runBackup(options: CommandOptions, file: string): Promise<void> {
  const config = readLocalConfig(options);
  requireStarted(config);
  const place = openPlace(config, file);
  const encrypt = await readEncryption(options);
  const { problems, report } = await place.write(async (path) => {
    await using source = await openSource(config);
    const { database } = source;
    const generatedSecret = await readGeneratedSecret(database);
    const made = await writeArchive({ path, encrypt }, (archive) =>
      writeBackup(archive, { database, storage: openStorage(config), secrets: config, generatedSecret }),
    );
    return { ...made, report: { encrypted: encrypt !== undefined, ...made.report } };
  });
  printReport(options, { file: place.name, ...report }, problems);
}

export async function runVerifyBackup(options: CommandOptions, file: string): Promise<void> {
  const config = readLocalConfig(options);
  const place = openPlace(config, file);
  const { manifest, entries } = await openArchive(place, options);
  const { problems, report } = await readBackup(manifest, entries, { secrets: config, file: place.name });
  const { created_at, tidings_version, engine, migrations } = manifest;
  const about = { file: place.name, created_at, tidings_version, engine, schema: migrations.at(-1) };
  printReport(options, { ...about, ...report }, problems);
}

export async function runRestore(options: CommandOptions, file: string): Promise<void> {
  const config = readLocalConfig(options);
  const place = openPlace(config, file);
  const { manifest, entries } = await openArchive(place, options);
  const { report, ...restored } = await restoreBackup({ config, manifest, entries, file: place.name });
  // In words, also if there is none: contacts that were erased since the backup were restored too.
  const erasures = `repeated by tidings release, from ${config.erasureLog ?? "the log that --erasures names"}`;
  printReport(options, { ...restored, created_at: manifest.created_at, ...report, erasures }, []);
}

/** The settings of the service on this machine. @throws CommandError for a service elsewhere. */
function readLocalConfig(options: CommandOptions): Config {
  const { config } = readConfig(undefined, settingsOf(options));
  if (config.upstream) {
    throw new CommandError("This command works on the machine of the service: unset TIDINGS_BASE_URL.");
  }
  return config;
}

/** @throws CommandError if no service was started on the database. */
async function readGeneratedSecret(database: Database) {
  const { hasTables, unknown } = await readMigrationState(database.queries);
  if (unknown.length > 0) {
    throw new CommandError(
      `A newer version of Tidings wrote this database: it has the migration ${unknown[0]}. Use the newer version.`,
    );
  }
  const secret = hasTables ? await readSetting(database, "secret") : undefined;
  if (secret === undefined) {
    throw new CommandError("No service was started on this database yet: there is nothing to back up.");
  }
  return secret;
}

/** @throws CommandError if there are problems, after the report was printed. */
function printReport(
  { json }: CommandOptions,
  { missing_files, damaged_files, ...report }: ContentReport & Readonly<Record<string, unknown>>,
  problems: readonly string[],
): void {
  print(json, { ...report, missing_files, damaged_files, problems }, () => [
    ...describeValues(
      Object.fromEntries(
        Object.entries(report).map(([name, value]) => [name.replaceAll("_", " "), describeValue(value)]),
      ),
    ),
    ...missing_files.map((key) => `missing file: ${key}`),
    ...damaged_files.map((key) => `damaged file: ${key}`),
  ]);
  if (problems.length > 0) {
    throw new CommandError(problems.join("\n"), { facts: { code: "backup_invalid" } });
  }
}

function describeValue(value: unknown): string {
  if (value === null) {
    return "not checked: the secret of the backup is not set";
  }
  return typeof value === "number" ? value.toLocaleString("en") : String(value);
}
