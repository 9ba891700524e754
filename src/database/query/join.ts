/** How a tenant's row is joined to the one that it names. */
import { sql } from "kysely";
import type { Tables } from "../schema/index.ts";

type Column = { [Name in keyof Tables]: `${Name}.${keyof Tables[Name] & string}` }[keyof Tables];

/** The column of one table holds the id of the other's row, within the organization: no join crosses tenants. */
export function refersTo(column: Column, target: keyof Tables) {
  const [table] = column.split(".");
  const [theirs, ours] = [target, table].map((name) => sql.ref(`${name}.organization_id`));
  return sql<boolean>`(${theirs} = ${ours} and ${sql.ref(`${target}.id`)} = ${sql.ref(column)})`;
}
