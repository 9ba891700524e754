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

/** Truncates only the tables that have rows: most have none. The migrator's tables keep theirs. */
const empty = `
do $$
declare
  item text;
  has_rows boolean;
  filled text[] := '{}';
begin
  for item in
    select oid::regclass from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'r' and relname not like 'kysely\\_%'
  loop
    execute format('select exists (select from %s)', item) into has_rows;
    if has_rows then
      filled := filled || item;
    end if;
  end loop;
  if cardinality(filled) > 0 then
    -- The ledger rejects a truncation.
    alter table ledger_entries disable trigger user;
    execute 'truncate ' || array_to_string(filled, ', ') || ' cascade';
    alter table ledger_entries enable trigger user;
  end if;
  for item in select oid::regclass from pg_class where relnamespace = 'public'::regnamespace and relkind = 'S' loop
    execute format('alter sequence %s restart', item);
  end loop;
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
