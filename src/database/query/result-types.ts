/** The SQL types of result columns, and the ids of these types, which are the same in every PostgreSQL. */
import type { SqlType } from "../schema/index.ts";

/** The types of table columns, and of expressions. */
export type ResultType =
  | SqlType
  | "double precision"
  | "double precision[]"
  | "integer[]"
  | "numeric"
  | "real";

export const typeIds: Readonly<Record<ResultType, number>> = {
  bigint: 20,
  boolean: 16,
  bytea: 17,
  "double precision": 701,
  "double precision[]": 1022,
  integer: 23,
  "integer[]": 1007,
  json: 114,
  jsonb: 3802,
  numeric: 1700,
  real: 700,
  smallint: 21,
  text: 25,
  "text[]": 1009,
  timestamptz: 1184,
  "timestamptz[]": 1185,
  tsvector: 3614,
  xid8: 5069,
};
