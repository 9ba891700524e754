/** Kinds of columns that the driver writes and reads differently. */
import type { ColumnType } from "kysely";

/** A JSON column: written as JSON text, read as its value. */
export type Json<Value> = ColumnType<Value, string, string>;

declare const isSealed: unique symbol;

/** A text that `seal` encrypted. Not a string to the compiler, so that it can't be stored in another column. */
export interface Sealed {
  readonly [isSealed]: true;
}

/** A JSON column that holds, in some rows, a `Sealed` text as a JSON string. */
export type JsonOrSealed = Json<unknown>;

/** Who did something. */
export interface Actor {
  readonly type: "api_key" | "user" | "flow" | "bot" | "system";
  readonly id: string;
  readonly name: string;
}
