/** The join condition between a tenant's row and the row it refers to. */
import { sql } from "kysely";
import type { Tables } from "../schema/index.ts";

type Column = { [Name in keyof Tables]: `${Name}.${keyof Tables[Name] & string}` }[keyof Tables];

/**
 * True if `column` holds the id of a row of `target` in the same organization, so that no join crosses
 * tenants.
 */
export function refersTo(column: Column, target: keyof Tables) {
  const [table] = column.split(".");
  const [targetOrganization, organization] = [target, table].map((name) =>
    sql.ref(`${name}.organization_id`),
  );
  return sql<boolean>`(${targetOrganization} = ${organization} and ${sql.ref(`${target}.id`)} = ${sql.ref(column)})`;
}
