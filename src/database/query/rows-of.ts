/**
 * Statements whose rows are declared: `rowsOf({ id: "text", count: "bigint" })` followed by the statement as
 * a template.
 *
 * TypeScript derives the type of the rows from the declaration. The tests compare it with the names and types
 * that the database returns, each time that the statement runs, so that a declaration can't differ from its
 * statement.
 */
import { type QueryResult, type SelectType, sql } from "kysely";
import type { Queries } from "../database.ts";
import { type ResultField, resultFieldsOf } from "../pool/index.ts";
import { sqlTypes, type Tables } from "../schema/index.ts";
import { columnsOf, type TableColumn } from "./recordset.ts";
import { type ResultType, typeIds } from "./result-types.ts";

declare const value: unique symbol;

/** A column whose values have another type than its SQL type suggests. */
interface ResultColumn<Value> {
  readonly type: ResultType;
  /** Never read: only distinguishes this type from `TableColumn` for the compiler. */
  readonly isResultColumn: true;
  /** Never set: exists only for the compiler. */
  readonly [value]?: Value;
}

type DeclaredColumn = ResultType | TableColumn<unknown> | ResultColumn<unknown>;

type Declaration = Readonly<Record<string, DeclaredColumn>>;

/** The values that the driver returns for an SQL type. */
interface Values extends Record<ResultType, unknown> {
  readonly bigint: number;
  readonly boolean: boolean;
  readonly bytea: Uint8Array;
  readonly "double precision": number;
  readonly "double precision[]": number[];
  readonly integer: number;
  readonly "integer[]": number[];
  readonly real: number;
  readonly smallint: number;
  readonly text: string;
  readonly "text[]": string[];
  readonly timestamptz: string;
}

type ValueOf<Type> = Type extends ResultType
  ? Values[Type]
  : Type extends ResultColumn<infer Value>
    ? Value
    : Type extends TableColumn<infer Value>
      ? Value
      : never;

/** The type of the rows of a declaration. */
export type RowOf<Columns> = { readonly [Name in keyof Columns]: ValueOf<Columns[Name]> };

export interface Statement<Row> {
  execute(queries: Queries): Promise<QueryResult<Row>>;
}

/** Begins a statement that returns these columns and no others. */
export function rowsOf<const Columns extends Declaration>(columns: Columns) {
  return (text: TemplateStringsArray, ...values: readonly unknown[]): Statement<RowOf<Columns>> => {
    const statement = sql<RowOf<Columns>>(text, ...values);
    return {
      async execute(queries) {
        const result = await statement.execute(queries);
        const fields = resultFieldsOf(result.rows);
        // Only tests record the fields of results.
        if (fields) {
          requireDeclared(columns, { fields, rows: result.rows, text: text.join("…") });
        }
        return result;
      },
    };
  };
}

/** A column that may be null, such as a column of an outer join. */
export function nullable<Column extends DeclaredColumn>(
  column: Column,
): ResultColumn<ValueOf<Column> | null> {
  return { type: typeof column === "string" ? column : column.type, isResultColumn: true };
}

/** A column whose values have a narrower type than its SQL type, such as a state, or the content of JSON. */
export function typed<Value>(type: ResultType): ResultColumn<Value> {
  return { type, isResultColumn: true };
}

/** All columns of a table. */
export function allColumnsOf<Table extends keyof Tables>(
  table: Table,
): { readonly [Name in keyof Tables[Table] & string]: TableColumn<SelectType<Tables[Table][Name]>> } {
  // The keys of a table in this object are its columns.
  const names = Object.keys(sqlTypes[table]) as (keyof Tables[Table] & string)[];
  return columnsOf(table, ...names);
}

interface Result {
  readonly fields: readonly ResultField[];
  readonly rows: readonly unknown[];
  readonly text: string;
}

/**
 * Compares the result with the declaration. A column that is declared only by its SQL type must not be null.
 * Nulls of other columns are not checked.
 * @throws Error if the columns of the result are not the declared columns, or for such a null.
 */
function requireDeclared(columns: Declaration, { fields, rows, text }: Result): void {
  const declared = Object.entries(columns).map(([name, column]) => `${name} ${typeIds[typeOf(column)]}`);
  const returned = fields.map(({ name, dataTypeID }) => `${name} ${dataTypeID}`);
  if (declared.sort().join() !== returned.sort().join()) {
    throw new Error(
      `A statement returns the columns ${returned.join(", ")}; it declares ${declared.join(", ")}: ${text}`,
    );
  }
  const notNull = Object.entries(columns).filter(([, column]) => typeof column === "string");
  const isNull = (row: unknown, name: string) => new Map(Object.entries(row ?? {})).get(name) === null;
  const violated = notNull.find(([name]) => rows.some((row) => isNull(row, name)));
  if (violated) {
    throw new Error(
      `A statement returns null as ${violated[0]}, which it declares as ${violated[1]}: ${text}`,
    );
  }
}

function typeOf(column: DeclaredColumn): ResultType {
  return typeof column === "string" ? column : column.type;
}
