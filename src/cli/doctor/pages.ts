/**
 * Reads every page of every table and index of a database, and compares B-tree indexes with their tables.
 *
 * The extensions pageinspect and amcheck read pages. They are created in a transaction that is rolled back,
 * so nothing is changed. Only a superuser may use them; the embedded engine has no other user.
 */

import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../../database/database.ts";
import { DamageError, sqlState, withoutTimeLimits } from "../../database/outage/index.ts";
import { onlyRow, rowsOf } from "../../database/query/index.ts";
import { messageOf } from "../commands/command-error.ts";
import { about, type Finding } from "./finding.ts";

const { ok, warning, problem } = about("pages");

/** A table, an index, or the long values of a table. */
interface Relation {
  readonly oid: number;
  /** Of a table of long values, the table that has them. */
  readonly name: string;
  readonly kind: "table" | "index" | "system";
  readonly is_btree: boolean;
  /** The table of an index or of long values; of a table itself. */
  readonly table_oid: number;
  /** Whether its rows are read too, with their long values. */
  readonly has_rows: boolean;
}

/** The schemas of the extensions, whose functions read pages. */
interface PageTools {
  readonly amcheck: string;
  readonly pageinspect: string;
}

/** Undoes the transaction of the check. */
class CheckEnd extends Error {
  readonly findings: readonly Finding[];

  constructor(findings: readonly Finding[]) {
    super("The check of the pages ended.");
    this.findings = findings;
  }
}

/** Changes nothing. */
export async function checkPages(database: Database): Promise<readonly Finding[]> {
  try {
    return await withoutTimeLimits(() =>
      database.transaction(async (tx): Promise<never> => {
        throw new CheckEnd(await readAll(tx, database.engine));
      }),
    );
  } catch (error) {
    if (error instanceof CheckEnd) {
      return error.findings;
    }
    throw error;
  }
}

async function readAll(tx: DatabaseTransaction, engine: Database["engine"]): Promise<readonly Finding[]> {
  const tools = await createTools(tx);
  const relations = await listRelations(tx, tools !== undefined);
  const problems: Finding[] = [];
  const damaged = new Set<number>();
  const steps = tools ? [readPages(tools), readContent(tools)] : [readContent(undefined)];
  for (const read of steps) {
    // The rows of a table can't be read if the first page of an index is damaged.
    for (const relation of relations.filter(
      ({ table_oid }) => read.isIndependent || !damaged.has(table_oid),
    )) {
      const damage = await findDamage(tx, relation, read);
      if (damage !== undefined) {
        damaged.add(relation.table_oid);
        problems.push(describeDamage(relation, damage, engine));
      }
    }
  }
  const count = (kind: Relation["kind"]) => relations.filter((one) => one.kind === kind).length;
  if (tools === undefined) {
    const unread = warning(
      `${count("table")} tables were read, but no index: only a superuser may read their pages.`,
      "Run it with the DATABASE_URL of a superuser, on a server with the extensions amcheck and pageinspect.",
    );
    return [...problems, unread];
  }
  const read = `Every page of ${count("table")} tables, ${count("index")} indexes and ${count("system")} system tables`;
  return problems.length === 0 ? [ok(`${read} was read.`)] : problems;
}

/** Creates the extensions, until the rollback. Undefined if that is not possible. */
async function createTools(tx: DatabaseTransaction): Promise<PageTools | undefined> {
  const { rows } = await rowsOf({ can_read: "boolean" })`
    select current_setting('is_superuser')::boolean and not pg_is_in_recovery()
      and (select count(*) = 2 from pg_available_extensions where name in ('amcheck', 'pageinspect')) as can_read
  `.execute(tx);
  if (!onlyRow(rows).can_read) {
    return undefined;
  }
  await sql`create extension if not exists amcheck`.execute(tx);
  await sql`create extension if not exists pageinspect`.execute(tx);
  const created = await rowsOf({ amcheck: "text", pageinspect: "text" })`
    select
      max(nspname::text) filter (where extname = 'amcheck') as amcheck,
      max(nspname::text) filter (where extname = 'pageinspect') as pageinspect
    from pg_extension join pg_namespace as schema on schema.oid = extnamespace
  `.execute(tx);
  return onlyRow(created.rows);
}

/** Only tables of the service without the tools. */
async function listRelations(tx: DatabaseTransaction, hasTools: boolean): Promise<readonly Relation[]> {
  const { rows } = await rowsOf({
    oid: "bigint",
    name: "text",
    kind: "text",
    is_btree: "boolean",
    table_oid: "bigint",
    has_rows: "boolean",
  })`
    select class.oid::bigint as oid,
      coalesce(owner.oid, class.oid)::regclass::text as name,
      case
        when class.relnamespace <> 'public'::regnamespace and owner.oid is null then 'system'
        when class.relkind = 'i' then 'index'
        else 'table'
      end as kind,
      class.relkind = 'i' and method.amname = 'btree' and entry.indisvalid as is_btree,
      coalesce(owner.oid, entry.indrelid, class.oid)::bigint as table_oid,
      class.relkind in ('r', 'm') and class.relnamespace = 'public'::regnamespace as has_rows
    from pg_class as class
    left join pg_am as method on method.oid = class.relam
    left join pg_index as entry on entry.indexrelid = class.oid
    -- Long values are in a table of their own, with an index.
    left join pg_class as owner on owner.relnamespace = 'public'::regnamespace
      and owner.reltoastrelid = coalesce(entry.indrelid, class.oid)
    where class.relkind in ('r', 'm', 't', 'i') and class.relpersistence <> 't'
      and (${hasTools} or (class.relkind in ('r', 'm') and class.relnamespace = 'public'::regnamespace))
    order by class.relkind = 'i', class.relname
  `.execute(tx);
  // The kinds of the statement.
  return rows.map(({ kind, ...row }) => ({ ...row, kind: kind as Relation["kind"] }));
}

/** The table was dropped, or became shorter, while it was read. */
const changed: ReadonlySet<unknown> = new Set(["42P01", "22023"]);
/** An error inside of the engine: it does not expect such a value. */
const internal = "XX000";

/**
 * What is wrong with the relation; undefined if all of it can be read.
 * @throws Error that names the relation, if the engine ends or can't be reached.
 */
async function findDamage(
  tx: DatabaseTransaction,
  relation: Relation,
  step: ReadingStep,
): Promise<string | undefined> {
  await sql`savepoint one_relation`.execute(tx);
  const damage = await step.run(tx, relation).then(
    () => undefined,
    (error: unknown) => {
      const message = messageOf(error);
      if (error instanceof DamageError || sqlState(error) === internal) {
        return message;
      }
      if (!changed.has(sqlState(error))) {
        throw new Error(`${relation.name} can't be read: ${message}`, { cause: error });
      }
      return undefined;
    },
  );
  await sql`rollback to savepoint one_relation`.execute(tx);
  return damage;
}

interface ReadingStep {
  /** Whether it reads no other relation than its own. */
  readonly isIndependent: boolean;
  run(tx: DatabaseTransaction, relation: Relation): Promise<void>;
}

const readPages = ({ pageinspect }: PageTools): ReadingStep => ({
  isIndependent: true,
  async run(tx, { oid }) {
    await sql`
      select count(${sql.id(pageinspect, "get_raw_page")}(${oid}::oid::regclass::text, 'main', block))
      from generate_series(
        0, pg_relation_size(${oid}::oid::regclass) / current_setting('block_size')::bigint - 1
      ) as block
    `.execute(tx);
  },
});

/** Reads the rows of a table with their long values, and compares a B-tree index with its table. */
const readContent = (tools: PageTools | undefined): ReadingStep => ({
  isIndependent: false,
  async run(tx, { oid, name, is_btree, has_rows }) {
    if (has_rows) {
      await sql`select count(md5(one::text)) from ${sql.table(`public.${name}`)} as one`.execute(tx);
    }
    if (tools && is_btree) {
      await sql`
        select ${sql.id(tools.amcheck, "bt_index_check")}(${oid}::oid::regclass, heapallindexed => true)
      `.execute(tx);
    }
  },
});

function describeDamage({ name, kind }: Relation, damage: string, engine: Database["engine"]): Finding {
  if (kind === "index") {
    const rebuild = engine === "postgres" ? `Run reindex index ${name} as its owner. Or make` : "Make";
    return problem(
      `The index ${name} is damaged: ${damage}.`,
      `${rebuild} a new backup, and restore it; if it can't be made, the last one (docs/backup.md). Check the disk.`,
    );
  }
  return problem(
    `The table ${name} is damaged: ${damage}.`,
    "Stop the service, keep a copy of the damaged database, and restore the last backup (docs/backup.md). Check the disk.",
  );
}
