/** Empties a migrated database between two tests, on either engine. */

/** Runs a statement without values and returns its rows. */
export type Query = (text: string) => Promise<readonly Record<string, unknown>[]>;

/** Everything in the schema that a test might have changed: tables, columns, indexes, constraints, triggers, functions. */
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

/**
 * Deletes the rows of all tables but the migrator's.
 *
 * A truncation waits for the disk, several times for each table: only large tables are truncated, and the jobs, because
 * jobs that are due at the same time run in the order of the file. One statement deletes from all other tables, so that
 * the foreign keys are checked when all rows are gone.
 */
const empty = `
do $$
declare
  item record;
  has_rows boolean;
  filled text[] := '{}';
  truncated text[] := '{}';
begin
  -- The ledger rejects changes.
  alter table ledger_entries disable trigger user;
  for item in
    select oid::regclass::text as name,
      pg_relation_size(oid) > case relname when 'jobs' then 0 else 1e6 end as is_truncated
    from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' and relname not like 'kysely\\_%'
  loop
    execute format('select exists (select from %s)', item.name) into has_rows;
    if item.is_truncated then
      truncated := truncated || item.name;
    elsif has_rows then
      filled := filled || item.name;
    end if;
  end loop;
  if cardinality(truncated) > 0 then
    execute 'truncate ' || array_to_string(truncated, ', ') || ' cascade';
  end if;
  if cardinality(filled) > 0 then
    execute (
      select 'with ' || string_agg(format('t%s as (delete from %s)', place, name), ', ') || ' select'
      from unnest(filled) with ordinality as filled (name, place)
    );
  end if;
  alter table ledger_entries enable trigger user;
  perform setval(pg_class.oid, seqstart, false)
  from pg_sequence join pg_class on pg_class.oid = seqrelid where relnamespace = 'public'::regnamespace;
end $$`;

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
  await query(empty);
  return true;
}

/** A statement that deletes the rows of some tables. */
export const deleteRows = (...tables: readonly string[]): string =>
  `with ${tables.map((table) => `"${table}_deletion" as (delete from ${table})`).join(", ")} select`;
