/**
 * Passes rows to a statement as a table.
 *
 * The rows are one parameter, so that the text of the statement, by which it is prepared, does not depend on their number.
 */
import { type RawBuilder, type SelectType, sql } from "kysely";
import { type Sealed, type SqlType, sqlTypes, type Tables } from "../schema/index.ts";

declare const value: unique symbol;

/** A column with the SQL type and the values of a column of a table. */
export interface TableColumn<Value> {
  readonly type: SqlType;
  /** Never set: for the compiler alone. */
  readonly [value]?: Value;
}

type Column = SqlType | TableColumn<unknown>;

/** What a column of an SQL type accepts that is no column of a table. */
interface Values extends Record<SqlType, unknown> {
  readonly bigint: number;
  readonly boolean: boolean;
  readonly integer: number;
  readonly smallint: number;
  readonly text: string | Sealed;
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

/** A value that may be null may be left out. */
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

/** The rows as a table expression, for `from` and `join`. Members of a row that are no column are left out. */
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

/** Columns of a table, for a recordset that has them under the same names. */
export function columnsOf<Table extends keyof Tables, Name extends keyof Tables[Table] & string>(
  table: Table,
  ...names: readonly Name[]
): { readonly [One in Name]: TableColumn<SelectType<Tables[Table][One]>> } {
  const entries = names.map((name) => [name, columnOf(table, name)]);
  // Its keys are the names.
  return Object.fromEntries(entries) as { [One in Name]: TableColumn<SelectType<Tables[Table][One]>> };
}

/** A column of a table, for a recordset that has it under another name. */
export function columnOf<Table extends keyof Tables, Name extends keyof Tables[Table] & string>(
  table: Table,
  name: Name,
): TableColumn<SelectType<Tables[Table][Name]>> {
  return { type: sqlTypes[table][name] };
}
