/** Kinds of columns that the driver writes and reads differently. */
import type { ColumnType } from "kysely";

/** A JSON column: written as JSON text, read as its value. */
export type Json<Value> = ColumnType<Value, string, string>;
