/** The tables and sequences of a database, as a backup describes them. */
import { type RawBuilder, sql } from "kysely";
import type { Queries } from "../../../../database/database.ts";
import { nullable, rowsOf } from "../../../../database/query/index.ts";

/** A column that a backup stores. Columns that PostgreSQL computes are left out. */
export interface BackupColumn {
  readonly name: string;
  /** As in a cast, such as `text` or `timestamp with time zone`. */
  readonly type: string;
}

export interface BackupTable {
  readonly name: string;
  readonly columns: readonly BackupColumn[];
}

export interface BackupSequence {
  readonly name: string;
  /** Null: it has returned no number yet. */
  readonly value: string | null;
}

/** The tables of the migrator: the manifest has the list of migrations. */
const ofMigrator = ["kysely_migration", "kysely_migration_lock"];

/** All tables except `leftOut`. Settings come first: verification needs the secret. */
export async function listBackupTables(
  db: Queries,
  leftOut: readonly string[],
): Promise<readonly BackupTable[]> {
  const { rows } = await rowsOf({ table_name: "text", column_name: "text", type: "text" })`
    select class.relname::text as table_name, attname::text as column_name, format_type(atttypid, atttypmod) as type
    from pg_attribute
    join pg_class as class on class.oid = attrelid
    where class.relnamespace = 'public'::regnamespace and class.relkind = 'r' and attnum > 0
      and not attisdropped and attgenerated = '' and class.relname <> all(${[...ofMigrator, ...leftOut]}::text[])
    order by class.relname <> 'settings', class.relname, attnum
  `.execute(db);
  const tables = new Map<string, BackupColumn[]>();
  for (const { table_name, column_name: name, type } of rows) {
    const columns = tables.get(table_name) ?? [];
    columns.push({ name, type });
    tables.set(table_name, columns);
  }
  return [...tables].map(([name, columns]) => ({ name, columns }));
}

export async function listSequences(db: Queries): Promise<readonly BackupSequence[]> {
  const { rows } = await rowsOf({ name: "text", value: nullable("text") })`
    select sequencename::text as name, last_value::text as value from pg_sequences
    where schemaname = 'public' order by sequencename
  `.execute(db);
  return rows;
}

/** The names of the migrations that have run. */
export async function listMigrations(db: Queries): Promise<readonly string[]> {
  const { rows } = await rowsOf({ name: "text" })`
    select name::text as name from kysely_migration order by name
  `.execute(db);
  return rows.map(({ name }) => name);
}

/** Texts of times, numbers and bytes that do not depend on the settings of a server. */
export async function setTextFormats(db: Queries): Promise<void> {
  const formats: readonly RawBuilder<unknown>[] = [
    sql`set local timezone = 'UTC'`,
    sql`set local datestyle = 'ISO, YMD'`,
    sql`set local intervalstyle = 'postgres'`,
    sql`set local extra_float_digits = 1`,
    sql`set local bytea_output = 'hex'`,
  ];
  for (const format of formats) {
    await format.execute(db);
  }
}
