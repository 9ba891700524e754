/**
 * Loads the rows of a backup into an empty, migrated database, in one transaction.
 *
 * Triggers are disabled, because a backup contains what they wrote. Foreign keys are dropped and added again
 * at the end, which checks all rows: so the order of the tables does not matter. Only the owner of the tables
 * may do both, and no superuser is needed.
 */
import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../../../../database/database.ts";
import { withoutTimeLimits } from "../../../../database/outage/index.ts";
import { rowsOf } from "../../../../database/query/index.ts";
import { type BackupSequence, type BackupTable, listBackupTables, setTextFormats } from "./tables.ts";

/**
 * @param leftOut the tables that a backup does not have.
 * @throws whatever `load` throws; then the database is as empty as before.
 */
export function loadAll<Result>(
  database: Database,
  leftOut: readonly string[],
  load: (tx: DatabaseTransaction, tables: readonly BackupTable[]) => Promise<Result>,
): Promise<Result> {
  let hasBegun = false;
  return withoutTimeLimits(() =>
    database.transaction(async (tx) => {
      if (hasBegun) {
        // The backup is read only once.
        throw new Error("The database ended the transaction of the restore. Run the command again.");
      }
      hasBegun = true;
      await setTextFormats(tx);
      const tables = await listBackupTables(tx, leftOut);
      const keys = await listForeignKeys(tx);
      await setTriggers(tx, tables, "disable");
      for (const key of keys) {
        await sql`alter table ${sql.table(key.table_name)} drop constraint ${sql.id(key.name)}`.execute(tx);
      }
      // The migrations have added rows, which are in the backup too.
      await sql`truncate ${sql.join(tables.map(({ name }) => sql.table(name)))}`.execute(tx);
      const result = await load(tx, tables);
      for (const { table_name, name, definition } of keys) {
        await sql`
          alter table ${sql.table(table_name)} add constraint ${sql.id(name)} ${sql.raw(definition)}
        `.execute(tx);
      }
      await setTriggers(tx, tables, "enable");
      return result;
    }),
  );
}

/**
 * Inserts lines that `dumpRows` returned. Ids of transactions are those of this transaction, because the
 * numbers of another server may be those of transactions to come here.
 * @throws if the database rejects a value.
 */
export async function loadRows(
  tx: DatabaseTransaction,
  { name, columns }: BackupTable,
  lines: readonly string[],
): Promise<void> {
  const placed = columns.map((column, place) => ({ ...column, place })).filter(({ type }) => type !== "xid8");
  const names = sql.join(placed.map((column) => sql.id(column.name)));
  const values = sql.join(
    placed.map(({ type, place }) => sql`(line ->> ${sql.lit(place)})::${sql.raw(type)}`),
  );
  await sql`
    insert into ${sql.table(name)} (${names})
    select ${values} from json_array_elements(${`[${lines.join(",")}]`}::json) as line
  `.execute(tx);
}

/** Continues the sequences where they were. */
export async function loadSequences(
  tx: DatabaseTransaction,
  sequences: readonly BackupSequence[],
): Promise<void> {
  for (const { name, value } of sequences) {
    if (value !== null) {
      await sql`select setval(${sql.lit(name)}::regclass, ${value}::bigint)`.execute(tx);
    }
  }
}

/** The name of a table in the database; undefined if it is empty, or has been migrated. */
export async function findForeignTable({ queries }: Database): Promise<string | undefined> {
  const { rows } = await rowsOf({ name: "text" })`
    select relname::text as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
      and to_regclass('public.kysely_migration') is null
    order by relname limit 1
  `.execute(queries);
  return rows[0]?.name;
}

interface ForeignKey {
  readonly table_name: string;
  readonly name: string;
  readonly definition: string;
}

async function listForeignKeys(tx: DatabaseTransaction): Promise<readonly ForeignKey[]> {
  const { rows } = await rowsOf({ table_name: "text", name: "text", definition: "text" })`
    select class.relname::text as table_name, conname::text as name, pg_get_constraintdef(con.oid) as definition
    from pg_constraint as con join pg_class as class on class.oid = conrelid
    where contype = 'f' and connamespace = 'public'::regnamespace
    order by class.relname, conname
  `.execute(tx);
  return rows;
}

async function setTriggers(
  tx: DatabaseTransaction,
  tables: readonly BackupTable[],
  state: "enable" | "disable",
): Promise<void> {
  for (const { name } of tables) {
    await sql`alter table ${sql.table(name)} ${sql.raw(state)} trigger user`.execute(tx);
  }
}
