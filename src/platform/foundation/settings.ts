/** The settings that the service itself keeps in its database, by name. */
import { randomBytes } from "node:crypto";
import type { Database, Queries } from "../../database/database.ts";

export async function readSetting({ queries }: Database, name: string): Promise<string | undefined> {
  const row = await queries
    .selectFrom("settings")
    .select("value")
    .where("name", "=", name)
    .executeTakeFirst();
  return row?.value;
}

/** Inserts a setting; returns false if it exists. */
export async function insertSetting(db: Queries, name: string, value: string): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto("settings")
    .values({ name, value })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return Boolean(numInsertedOrUpdatedRows);
}

/** Inserts a setting, or replaces its value. */
export async function replaceSetting(db: Queries, name: string, value: string): Promise<void> {
  await db
    .insertInto("settings")
    .values({ name, value })
    .onConflict((conflict) => conflict.column("name").doUpdateSet({ value }))
    .execute();
}

/** Deletes a setting; returns false if it does not exist. */
export async function deleteSetting(db: Queries, name: string): Promise<boolean> {
  const { numDeletedRows } = await db.deleteFrom("settings").where("name", "=", name).executeTakeFirst();
  return numDeletedRows > 0;
}

/**
 * Identifies the restore that made this database. Cursors of before a restore mean other rows after it, so
 * they have this id.
 */
const restoreIdSetting = "restore_id";

/** Gives the database a new id, in the transaction that loads it. */
export async function renewRestoreId(tx: Queries): Promise<void> {
  await replaceSetting(tx, restoreIdSetting, randomBytes(6).toString("hex"));
}

/** Undefined: it was never restored. */
export function readRestoreId(database: Database): Promise<string | undefined> {
  return readSetting(database, restoreIdSetting);
}
