/** Empties a migrated database between two tests, on either engine. */

import { isPooled } from "./postgres.ts";

/** Runs a statement without values and returns its rows. */
export type Query = (text: string) => Promise<readonly Record<string, unknown>[]>;

/**
 * Everything in the schema that a test might have changed: tables, columns, indexes, constraints,
 * triggers, functions.
 */
const shape = `
  select md5(string_agg(part, ',' order by part)) as shape
  from (
    select concat('class', oid, relname) as part
      from pg_class where relnamespace = 'public'::regnamespace
    union all
    select concat('column', attrelid, attnum, attname, atttypid, attnotnull, atthasdef)
      from pg_attribute join pg_class on pg_class.oid = attrelid where relnamespace = 'public'::regnamespace
    union all
    select concat('constraint', oid) from pg_constraint where connamespace = 'public'::regnamespace
    union all
    select concat('trigger', oid, tgenabled) from pg_trigger
    union all
    select concat('function', oid) from pg_proc where pronamespace = 'public'::regnamespace
    union all
    select concat('schema', oid) from pg_namespace where nspname not like 'pg\\_%'
  ) as parts
`;

/** The tables that have had rows since their files were last empty. The migrator's tables keep theirs. */
const usedTables = `
  select oid::regclass::text as name from pg_class
  where relnamespace = 'public'::regnamespace and relkind = 'r' and relname not like 'kysely\\_%'
    and pg_relation_size(oid) > 0
`;

const restartSequences = `
  select setval(pg_class.oid, seqstart, false)
  from pg_sequence join pg_class on pg_class.oid = seqrelid where relnamespace = 'public'::regnamespace
`;

/** A digest of the schema. */
export async function readShape(query: Query): Promise<string> {
  const [row] = await query(shape);
  return String(row?.shape);
}

/** Deletes all rows. Returns false, and leaves the rows, if the schema does not have the shape. */
export async function emptyDatabase(query: Query, expectedShape: string): Promise<boolean> {
  if ((await readShape(query)) !== expectedShape) {
    return false;
  }
  const used = await query(usedTables);
  if (used.length > 0) {
    // The ledger rejects changes.
    await query("alter table ledger_entries disable trigger user");
    await emptyTables(
      query,
      used.map(({ name }) => String(name)),
    );
    await query("alter table ledger_entries enable trigger user");
  }
  await query(restartSequences);
  return true;
}

/**
 * Deletes the rows of some tables, and empties their files: statements without an order then return rows in
 * the order in which they were inserted, as from a new table.
 *
 * A truncation takes longer: it waits for the disk, once for each index. One statement deletes from all
 * tables, so that the foreign keys are checked when all rows are gone. A superuser, as on the embedded
 * engine, skips the checks: for many rows they take minutes.
 */
export async function emptyTables(query: Query, tables: readonly string[]): Promise<void> {
  const deletions = tables.map((table, place) => `deletion_${place} as (delete from ${table})`);
  await query(`
    do $$ begin
      if (select rolsuper from pg_roles where rolname = current_user) then
        perform set_config('session_replication_role', 'replica', true);
      end if;
      execute 'with ${deletions.join(", ")} select';
    end $$
  `);
  // Behind a pooler a statement is in a transaction, where the server does not vacuum.
  if (!isPooled) {
    await query(`vacuum ${tables.join(", ")}`);
  }
}
