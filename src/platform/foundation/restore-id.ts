/**
 * Identifies the restore that made this database. A database that was never restored has none.
 *
 * Cursors of before a restore mean other rows after it, so they have this id.
 */
import { randomBytes } from "node:crypto";
import type { Database, Queries } from "../../database/database.ts";
import { readSetting, replaceSetting } from "./settings.ts";

const restoreIdSetting = "restore_id";

/** Gives the database a new id, in the transaction that loads it. */
export async function renewRestoreId(tx: Queries): Promise<void> {
  await replaceSetting(tx, restoreIdSetting, randomBytes(6).toString("hex"));
}

/** Reads it at every call. Undefined: it was never restored. */
export function readRestoreId(database: Database): Promise<string | undefined> {
  return readSetting(database, restoreIdSetting);
}
