/** Reads the tables of a migrated database, with the SQL types of their columns. */
import { sql } from "kysely";
import type { Queries } from "../../src/database/database.ts";

export interface Column {
  readonly table: string;
  readonly column: string;
  /** As a statement writes it, such as `timestamptz`. */
  readonly type: string;
  readonly is_nullable: boolean;
  /** An insert may leave it out. */
  readonly has_default: boolean;
  /** Its value is computed from other columns: it can't be written. */
  readonly is_computed: boolean;
}

/** All columns except those of the migrator's tables, by table and in the order of the table. */
export async function readColumns(queries: Queries): Promise<Column[]> {
  const { rows } = await sql<Column>`
    select relname as table, attname as column,
      replace(format_type(atttypid, null), 'timestamp with time zone', 'timestamptz') as type,
      not attnotnull as is_nullable, atthasdef as has_default, attgenerated <> '' as is_computed
    from pg_attribute join pg_class on pg_class.oid = attrelid
    where relnamespace = 'public'::regnamespace and relkind = 'r' and not starts_with(relname, 'kysely_')
      and attnum > 0 and not attisdropped
    order by relname collate "C", attnum
  `.execute(queries);
  return rows;
}
