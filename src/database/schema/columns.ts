/**
 * Kinds of columns that the driver writes and reads differently, and types that columns of several tables have.
 *
 * The migrations define the tables, and `npm run schema-types` writes their types to `tables.ts`. What an SQL type does not
 * say is declared in the interfaces named `…Columns` of this folder: which texts a column has, what is in its JSON, what
 * it means. They name the type of a value; null, defaults and JSON come from the database.
 */
import type { ColumnType } from "kysely";

/** A JSON column: written as JSON text, read as its value. */
export type Json<Value> = ColumnType<Value, string, string>;

/** A JSON column with a default. */
export type GeneratedJson<Value> = ColumnType<Value, string | undefined, string>;

/** A column that PostgreSQL computes from others. */
export type ComputedColumn<Value> = ColumnType<Value, never, never>;

declare const isSealed: unique symbol;

/** A text that `seal` encrypted. Not a string to the compiler, so that it can't be stored in another column. */
export interface SealedText {
  readonly [isSealed]: true;
}

/** Of a JSON column that holds, in some rows, a `SealedText` text as a JSON string. */
export type JsonOrSealed = unknown;

/** Who did something. */
export interface StoredActor {
  readonly type: "api_key" | "user" | "flow" | "bot" | "system";
  readonly id: string;
  readonly name: string;
}
