/** Kinds of columns that the driver writes and reads differently. */
import type { ColumnType } from "kysely";

/** A JSON column: written as JSON text, read as its value. */
export type Json<Value> = ColumnType<Value, string, string>;

/** Who did something. */
export interface Actor {
  readonly type: "api_key" | "user" | "flow" | "bot" | "system";
  readonly id: string;
  readonly name: string;
}
