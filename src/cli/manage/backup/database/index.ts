/** Backups: reads the rows of a whole database, and loads them into an empty one of either engine. */
export { dumpRows, readOneState } from "./dump.ts";
export { findForeignTable, loadAll, loadRows, loadSequences } from "./load.ts";
export {
  type BackupColumn,
  type BackupSequence,
  type BackupTable,
  listBackupTables,
  listMigrations,
  listSequences,
} from "./tables.ts";
