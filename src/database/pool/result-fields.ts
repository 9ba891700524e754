/** Keeps the fields of statements' results, which Kysely does not return. Only used by tests. */
import type pg from "pg";

/** A column of a result: its name, and the id of its type. */
export type ResultField = Pick<pg.FieldDef, "name" | "dataTypeID">;

let isKept = false;
const fieldsByRows = new WeakMap<readonly unknown[], readonly ResultField[]>();

/** Keeps the fields of all results from now on. */
export function keepResultFields(): void {
  isKept = true;
}

/** Called only by the pool. */
export function recordResultFields({ rows, fields }: Pick<pg.QueryResult, "rows" | "fields">): void {
  if (isKept) {
    fieldsByRows.set(rows, fields);
  }
}

/** The fields of a result by its rows. Undefined if fields are not kept. */
export function resultFieldsOf(rows: readonly unknown[]): readonly ResultField[] | undefined {
  return fieldsByRows.get(rows);
}
