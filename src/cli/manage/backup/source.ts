/**
 * Opens the database that is backed up, while the service runs or not.
 *
 * PostgreSQL is read through a connection of its own. An embedded database is open in one process only: if
 * the service runs, that process makes a copy of the files between two statements, and the copy is read.
 */
import { rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { z } from "zod";
import type { Config } from "../../../config/index.ts";
import { type DatabaseOptions, openDatabase } from "../../../database/connect.ts";
import type { Database } from "../../../database/database.ts";
import { CommandError } from "../../commands/command-error.ts";
import { openDataFolder } from "../../data-folder/data-folder.ts";
import { createVerifier } from "../../data-folder/verify-server.ts";
import { silentLog } from "../../lazy-log.ts";
import { copyPath, copyPrefix } from "./copy-route.ts";
import { removeLeftovers } from "./place/index.ts";

export interface BackupSource extends AsyncDisposable {
  readonly database: Database;
}

/** @param tools which extensions the embedded engine has. */
export async function openSource(
  { databaseUrl, dataDir }: Config,
  tools: Pick<DatabaseOptions, "hasPageTools"> = {},
): Promise<BackupSource> {
  const open = (folder: string) =>
    openDatabase({ url: databaseUrl, dataDir: folder, poolSize: 1, log: silentLog, ...tools });
  if (databaseUrl !== undefined) {
    return toSource(await open(dataDir));
  }
  const folder = await openDataFolder(dataDir);
  await removeLeftovers(folder.path, (name) => name.startsWith(copyPrefix));
  const owner = await folder.owner();
  if (owner === undefined) {
    return toSource(await open(folder.path));
  }
  const address = owner.address && (await createVerifier(folder)(owner.address));
  if (address === undefined || address === "") {
    throw new CommandError(`The process ${owner.pid} that owns ${folder.path} does not answer: try again.`);
  }
  const copy = await requestCopy(address, await folder.credential(), folder.path);
  try {
    const database = await open(copy);
    return toSource(database, () => rm(copy, { recursive: true, force: true }));
  } catch (error) {
    await rm(copy, { recursive: true, force: true });
    throw error;
  }
}

function toSource(database: Database, remove: () => Promise<void> = async () => undefined): BackupSource {
  return {
    database,
    async [Symbol.asyncDispose]() {
      await database[Symbol.asyncDispose]();
      await remove();
    },
  };
}

const CopyAnswer = z.object({ data: z.object({ folder: z.string() }) });

/** The folder of the copy, which is in the data folder. */
async function requestCopy(address: string, key: string, path: string): Promise<string> {
  const answer = await fetch(address + copyPath, {
    method: "POST",
    headers: { "x-api-key": key },
    redirect: "error",
  });
  const parsed = CopyAnswer.safeParse(await answer.json().catch(() => undefined));
  if (answer.ok && parsed.success) {
    // The service may name the data folder by another path than this process, such as a symbolic link.
    const name = basename(parsed.data.data.folder);
    if (name.startsWith(copyPrefix)) {
      return join(path, name);
    }
  }
  throw new CommandError(
    answer.status === 404
      ? "The running service is of an older version: restart it, then try again."
      : `The running service could not copy its database: it answered ${answer.status}. Its log says why.`,
  );
}
