/** Holds a restored installation, and finds out whether it is held. */
import type { Database, Queries } from "../../../database/database.ts";
import { insertSetting, readSetting, renewRestoreId } from "../../foundation/settings.ts";

/** The setting that exists while the installation is held. Its value is when its backup was made. */
export const heldSetting = "held_since_backup";

/** Holds the installation, in the transaction that loads it, and invalidates the cursors of before. */
export async function holdRestored(tx: Queries, backupMadeAt: string): Promise<void> {
  await insertSetting(tx, heldSetting, backupMadeAt);
  await renewRestoreId(tx);
}

/** Whether something was stored here already. */
export async function hasOrganizations({ queries }: Database): Promise<boolean> {
  const found = await queries.selectFrom("organizations").select("id").limit(1).executeTakeFirst();
  return found !== undefined;
}

export interface RestoreHold {
  /** When the backup was made from which the installation was restored; undefined if it is not held. */
  readonly backupMadeAt: string | undefined;
  /** Reads the database only while the installation is held: it is never held again. */
  isHeld(): Promise<boolean>;
}

export async function openHold(database: Database): Promise<RestoreHold> {
  const backupMadeAt = await readSetting(database, heldSetting);
  let mayBeHeld = backupMadeAt !== undefined;
  const isHeld = async () => {
    if (mayBeHeld && (await readSetting(database, heldSetting)) === undefined) {
      mayBeHeld = false;
    }
    return mayBeHeld;
  };
  return {
    backupMadeAt,
    isHeld,
  };
}
