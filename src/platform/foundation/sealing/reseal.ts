/**
 * Seals all stored values with the secret in use, at the start of the app, so that the next rotation needs no
 * older secret than the present one.
 *
 * A first pass only reads. If there are values that no secret opens, the start fails and nothing has been
 * changed. The second pass writes in batches, and each value only if it has not changed since it was read. So
 * processes that start together, or a rotation by a request, do not disturb each other, and after a crash the
 * next start continues.
 */
import { type RawBuilder, sql } from "kysely";
import type { Database } from "../../../database/database.ts";
import { type RowOf, recordset, rowsOf, typed } from "../../../database/query/index.ts";
import type { SealedText, Tables } from "../../../database/schema/index.ts";
import type { Log } from "../../../ports/telemetry/log.ts";
import { type SealingSecrets, seal, tryUnseal } from "./seal.ts";

const batchSize = 500;

/** A column that holds sealed values. */
export interface SealedColumn {
  readonly table: keyof Tables;
  readonly column: string;
  /** The columns of the primary key, of type text. */
  readonly key: readonly string[];
  /** Whether the sealed text is stored as a JSON string. */
  readonly isJson?: boolean;
  /** The member that is the sealed text, of a column with JSON objects. Other members stay. */
  readonly member?: string;
  /** Selects the rows whose sealed value is still used. Default: all rows. */
  rows?(now: Date): RawBuilder<unknown>;
  /**
   * What happens to a value that no secret opens: its row or the value is deleted, or the result of the
   * function replaces it, or it stays, because its reader handles it.
   */
  readonly whenLost: "delete" | "clear" | "keep" | (() => string);
}

export interface ResealOptions {
  readonly columns: readonly SealedColumn[];
  readonly secrets: SealingSecrets;
  /** Whether values that no secret opens may be lost. */
  readonly isSecretLost: boolean;
  readonly now: Date;
  readonly log: Log;
}

/** @throws if no secret opens some of the values, unless `isSecretLost`. */
export async function resealAll(database: Database, options: ResealOptions): Promise<void> {
  const { columns, isSecretLost, log } = options;
  const counts = [];
  for (const column of columns) {
    counts.push({ column, ...(await countValues(database, column, options)) });
  }
  const lost = counts.filter((count) => count.lost > 0);
  if (lost.length > 0 && !isSecretLost) {
    throw new Error(describeLost(lost));
  }
  for (const { column, stale, lost } of counts.filter((count) => count.stale + count.lost > 0)) {
    for await (const batch of readBatches(database, column, options.now)) {
      await writeBatch(database, column, batch, options.secrets);
    }
    const name = nameOfSealed(column);
    if (stale > 0) {
      log.info({ column: name, count: stale }, "sealed stored values under the secret in use");
    }
    if (lost > 0) {
      log.warn({ column: name, count: lost }, "gave up stored values that no secret opens");
    }
  }
  if (isSecretLost) {
    log.warn({}, "TIDINGS_SECRET_LOST is set: unset it, or a start with a wrong secret gives up values too");
  }
}

/** Counts the values that another secret than the current one opens, and the values that no secret opens. */
async function countValues(database: Database, column: SealedColumn, { secrets, now }: ResealOptions) {
  let [stale, lost] = [0, 0];
  for await (const batch of readBatches(database, column, now)) {
    for (const { value } of batch) {
      const opened = tryUnseal(secrets, value);
      lost += opened ? 0 : 1;
      stale += opened && !opened.isCurrent ? 1 : 0;
    }
  }
  return { stale, lost };
}

/** A column as the log names it. */
export function nameOfSealed({ table, column, member }: SealedColumn): string {
  return [table, column, ...(member === undefined ? [] : [member])].join(".");
}

function describeLost(counts: readonly { column: SealedColumn; lost: number }[]): string {
  const total = counts.reduce((sum, { lost }) => sum + lost, 0);
  const places = counts.map(({ column, lost }) => `${lost} in ${nameOfSealed(column)}`);
  return [
    `${total} stored values can't be opened with TIDINGS_SECRET, TIDINGS_PREVIOUS_SECRET or the generated secret`,
    `(${places.join(", ")}). Nothing was changed.`,
    "Set TIDINGS_PREVIOUS_SECRET to the secret that was in use before, or unset TIDINGS_SECRET if none was set.",
    'If that secret is lost, read "A lost secret" in docs/operations.md about TIDINGS_SECRET_LOST=true.',
  ].join(" ");
}

const sealedColumns = {
  row_key: typed<Readonly<Record<string, string>>>("json"),
  value: typed<SealedText>("text"),
};

type SealedRow = RowOf<typeof sealedColumns>;

/** Reads the values by primary key. */
async function* readBatches(
  { queries }: Database,
  sealed: SealedColumn,
  now: Date,
): AsyncGenerator<readonly SealedRow[]> {
  const { table, key, rows = () => sql`true` } = sealed;
  const value = textOf(sealed);
  const keyColumns = sql.join(key.map((name) => sql.ref(name)));
  let last: SealedRow | undefined;
  do {
    const after = last
      ? sql`(${keyColumns}) > (${sql.join(key.map((name) => last?.row_key[name]))})`
      : sql`true`;
    const members = key.map((name) => sql`${sql.lit(name)}, ${sql.ref(name)}`);
    const { rows: batch } = await rowsOf(sealedColumns)`
      select json_build_object(${sql.join(members)}) as row_key, ${value} as value
      from ${sql.table(table)}
      where ${value} is not null and ${rows(now)} and ${after}
      order by ${keyColumns} limit ${batchSize}
    `.execute(queries);
    yield batch;
    last = batch.length === batchSize ? batch.at(-1) : undefined;
  } while (last);
}

/** Seals the values of a batch again that another secret than the current one opens. */
async function writeBatch(
  { queries }: Database,
  sealed: SealedColumn,
  batch: readonly SealedRow[],
  secrets: SealingSecrets,
): Promise<void> {
  const { table, column, key, whenLost } = sealed;
  const replacement = typeof whenLost === "function" ? () => seal(secrets, whenLost()) : () => null;
  const changes = batch.flatMap(({ row_key, value: old }) => {
    const opened = tryUnseal(secrets, old);
    const value = opened ? seal(secrets, opened.text) : replacement();
    const stays = opened?.isCurrent || (opened === undefined && whenLost === "keep");
    return stays ? [] : [{ ...row_key, old, value }];
  });
  if (changes.length === 0) {
    return;
  }
  const keyTypes = Object.fromEntries(key.map((name) => [name, "text" as const]));
  const change = recordset("change", { ...keyTypes, old: "text", value: "text" }, changes);
  const target = sql.table(table);
  const conditions = [
    ...key.map((name) => sql`${target}.${sql.id(name)} = change.${sql.id(name)}`),
    sql`${textOf(sealed)} = change.old`,
  ];
  const matches = sql.join(conditions, sql` and `);
  await sql`
    update ${target} set ${sql.id(column)} = ${storedOf(sealed)} from ${change}
    where ${matches} ${whenLost === "delete" ? sql`and change.value is not null` : sql``}
  `.execute(queries);
  if (whenLost === "delete") {
    await sql`delete from ${target} using ${change} where ${matches} and change.value is null`.execute(
      queries,
    );
  }
}

/** The sealed text of a row. */
function textOf({ table, column, isJson = false, member }: SealedColumn): RawBuilder<SealedText> {
  const stored = sql.ref(`${table}.${column}`);
  if (member !== undefined) {
    return sql<SealedText>`${stored} ->> ${sql.lit(member)}`;
  }
  return isJson ? sql<SealedText>`${stored} #>> '{}'` : sql<SealedText>`${stored}`;
}

/** What the column gets: `change.value` in its form. */
function storedOf({ table, column, isJson = false, member }: SealedColumn): RawBuilder<unknown> {
  if (member !== undefined) {
    const stored = sql.ref(`${table}.${column}`);
    return sql`jsonb_set(${stored}, array[${sql.lit(member)}], to_jsonb(change.value))`;
  }
  return isJson ? sql`to_json(change.value)` : sql`change.value`;
}
