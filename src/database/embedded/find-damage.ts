/** Finds damage of an embedded database before the engine opens it, and makes the empty folders it needs. */
import { mkdir, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "../ownership/index.ts";

/** The version of PostgreSQL that this version of PGlite is made of. Its files are of no other version. */
const engineVersion = "18";

/** Folders without which the engine aborts or loses what was committed. */
const neededFolders = ["base", "global", "pg_wal", "pg_xact", "pg_multixact"];

/** Folders that the engine needs too, and that are empty while it does not run. */
const emptyFolders = ["pg_commit_ts", "pg_notify", "pg_replslot", "pg_twophase"];

/** Files that the engine needs, with their length in bytes if it is always the same. */
const neededFiles = new Map([
  ["global/pg_control", 8_192],
  ["global/pg_filenode.map", 524],
  ["postgresql.conf", undefined],
  ["pg_hba.conf", undefined],
]);

/** The first damage, as a sentence; undefined for an intact, a new or an empty folder. */
export async function findDamage(data: string): Promise<string | undefined> {
  const entries = await readdir(data).catch(emptyIfMissing);
  if (entries.length === 0) {
    return undefined;
  }
  const missing = neededFolders.find((name) => !entries.includes(name));
  return (
    (await findOtherVersion(data)) ??
    (missing === undefined ? undefined : `The folder ${missing} is missing.`) ??
    (await findDamagedFile(data))
  );
}

/** Makes the empty folders of a database: git and some other ways of copying leave out empty folders. */
export async function restoreEmptyFolders(data: string): Promise<void> {
  // A new folder stays empty: the engine fills it.
  if ((await readdir(data).catch(emptyIfMissing)).length > 0) {
    await Promise.all(emptyFolders.map((name) => mkdir(join(data, name), { recursive: true, mode: 0o700 })));
  }
}

/** What to do about a damaged database. */
export const damageAdvice =
  "Move the folder away and restore a backup (docs/backup.md), or set another data folder.";

async function findOtherVersion(data: string): Promise<string | undefined> {
  const version = await readFile(join(data, "PG_VERSION"), "utf8").catch(undefinedIfMissing);
  if (version === undefined) {
    return "The file PG_VERSION is missing.";
  }
  const text = version.trim();
  return text === engineVersion
    ? undefined
    : `It has the version ${JSON.stringify(text.slice(0, 20))}, and this version of Tidings reads ${engineVersion}.`;
}

async function findDamagedFile(data: string): Promise<string | undefined> {
  for (const [name, bytes] of neededFiles) {
    const file = await stat(join(data, name)).catch(undefinedIfMissing);
    if (file === undefined) {
      return `The file ${name} is missing.`;
    }
    if (bytes !== undefined && file.size !== bytes) {
      return `The file ${name} has ${file.size} bytes and should have ${bytes}.`;
    }
  }
  return undefined;
}

function emptyIfMissing(error: unknown): string[] {
  if (errorCode(error) === "ENOENT") {
    return [];
  }
  throw error;
}

function undefinedIfMissing(error: unknown): undefined {
  if (errorCode(error) !== "ENOENT") {
    throw error;
  }
}
