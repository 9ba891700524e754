/**
 * Kinds of columns that the driver writes and reads differently, and types that columns of several tables
 * share.
 *
 * The migrations define the tables, and `npm run schema-types` writes their types to `tables.ts`. The
 * interfaces named `…Columns` in this folder declare what an SQL type can't express: the possible texts of a
 * column, the content of its JSON, and its meaning. They name the type of a value; null, defaults and JSON
 * come from the database.
 */
import type { ColumnType } from "kysely";

/** A JSON column: written as JSON text, read as its value. */
export type Json<Value> = ColumnType<Value, string, string>;

/** A JSON column with a default. */
export type GeneratedJson<Value> = ColumnType<Value, string | undefined, string>;

/** A column that PostgreSQL computes from other columns. */
export type ComputedColumn<Value> = ColumnType<Value, never, never>;

declare const isSealed: unique symbol;

/**
 * A text that `seal` encrypted. Not a string for the compiler, so that it can't be stored in another column.
 */
export interface SealedText {
  readonly [isSealed]: true;
}

/** A JSON column that, in some rows, holds a `Sealed` text as a JSON string. */
export type JsonOrSealed = unknown;

/** The actor of a change. */
export interface StoredActor {
  readonly type: "api_key" | "user" | "flow" | "bot" | "system" | "phone";
  readonly id: string;
  readonly name: string;
}

/** Who sent a message, and how. */
export interface StoredMessageSender extends StoredActor {
  /** The MCP tool of an assistant. */
  readonly tool?: string;
  /** The step of a flow. */
  readonly node_id?: string;
  /** What an answer of the chatbot is based on. */
  readonly sources?: string[];
}
