/**
 * Passes rows to a statement as a table.
 *
 * All rows are one parameter. So the text of the statement, by which it is prepared, does not depend on the
 * number of rows.
 */
import { type RawBuilder, type SelectType, sql } from "kysely";
import { type SealedText, type SqlType, sqlTypes, type Tables } from "../schema/index.ts";

declare const value: unique symbol;

/** A column with the SQL type and the values of a column of a table. */
export interface TableColumn<Value> {
  readonly type: SqlType;
  /** Never set: exists only for the compiler. */
  readonly [value]?: Value;
}

type Column = SqlType | TableColumn<unknown>;

/** The types of the values of columns that are declared only by their SQL type. */
interface Values extends Record<SqlType, unknown> {
  readonly bigint: number;
  readonly boolean: boolean;
  readonly integer: number;
  readonly smallint: number;
  readonly text: string | SealedText;
  readonly "text[]": readonly string[];
  readonly timestamptz: string;
}

type ValueOf<Type> = Type extends SqlType
  ? Values[Type] | null
  : Type extends TableColumn<infer Value>
    ? Value extends readonly (infer Element)[]
      ? readonly Element[]
      : Value
    : never;

/** A row of a recordset. A value that may be null may be omitted. */
export type InputRow<Declared> = {
  readonly [Name in keyof Declared as null extends ValueOf<Declared[Name]> ? never : Name]: ValueOf<
    Declared[Name]
  >;
} & {
  readonly [Name in keyof Declared as null extends ValueOf<Declared[Name]> ? Name : never]?:
    | ValueOf<Declared[Name]>
    | undefined;
};

/** The columns of a recordset, by name. */
export type Columns = Readonly<Record<string, Column>>;

/**
 * The rows as a table expression, for `from` and `join`. Only the members of a row that are in `columns` are
 * used.
 */
export function recordset<const Declared extends Columns>(
  alias: string,
  columns: Declared,
  rows: readonly InputRow<NoInfer<Declared>>[],
): RawBuilder<unknown> {
  const fields = Object.entries(columns).map(([name, column]) => {
    const type = typeof column === "string" ? column : column.type;
    return sql`${sql.id(name)} ${sql.raw(type)}`;
  });
  return sql`jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as ${sql.id(alias)} (${sql.join(fields)})`;
}

/** Columns of a table, for a recordset whose columns have the same names. */
export function columnsOf<Table extends keyof Tables, Name extends keyof Tables[Table] & string>(
  table: Table,
  ...names: readonly Name[]
): { readonly [One in Name]: TableColumn<SelectType<Tables[Table][One]>> } {
  const entries = names.map((name) => [name, columnOf(table, name)]);
  // The keys of this object are `names`.
  return Object.fromEntries(entries) as { [One in Name]: TableColumn<SelectType<Tables[Table][One]>> };
}

/** One column of a table, for a recordset whose column has another name. */
export function columnOf<Table extends keyof Tables, Name extends keyof Tables[Table] & string>(
  table: Table,
  name: Name,
): TableColumn<SelectType<Tables[Table][Name]>> {
  return { type: sqlTypes[table][name] };
}
