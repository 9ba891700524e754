/** Statements on the rows of one organization. */
import {
  type DeleteQueryBuilder,
  type DeleteResult,
  type SelectQueryBuilder,
  sql,
  type UpdateQueryBuilder,
  type UpdateResult,
} from "kysely";
import type { Queries } from "../database.ts";
import type { Tables } from "../schema/index.ts";

/** The tables whose rows belong to an organization. */
type TenantTable = {
  [Name in keyof Tables]: Tables[Name] extends { organization_id: unknown } ? Name : never;
}[keyof Tables];

/** Begins a statement that reads or changes no row of another organization. */
export function ofOrganization(db: Queries, organization: string): OrganizationQueries {
  return new OrganizationQueries(db, organization);
}

class OrganizationQueries {
  readonly #db: Queries;
  readonly #organization: string;

  constructor(db: Queries, organization: string) {
    this.#db = db;
    this.#organization = organization;
  }

  selectFrom<Table extends TenantTable>(table: Table) {
    const query: unknown = this.#db.selectFrom<TenantTable>(table).where(this.#condition(table));
    return query as SelectQueryBuilder<Tables, Table, object>;
  }

  updateTable<Table extends TenantTable>(table: Table) {
    const query: unknown = this.#db.updateTable<TenantTable>(table).where(this.#condition(table));
    return query as UpdateQueryBuilder<Tables, Table, Table, UpdateResult>;
  }

  deleteFrom<Table extends TenantTable>(table: Table) {
    const query: unknown = this.#db.deleteFrom<TenantTable>(table).where(this.#condition(table));
    return query as DeleteQueryBuilder<Tables, Table, DeleteResult>;
  }

  #condition(table: TenantTable) {
    return sql<boolean>`${sql.ref(`${table}.organization_id`)} = ${this.#organization}`;
  }
}
