/** What every read of contacts begins with, and the form in which the contract shows a contact. */
import type { Queries } from "../../../database/database.ts";
import { ofOrganization } from "../../../database/query/index.ts";

/** The contacts of an organization that are not erased. */
export function selectContacts(db: Queries, organization: string) {
  return ofOrganization(db, organization).selectFrom("contacts").where("erased_at", "is", null);
}

export function serializeContact<Row extends { readonly blocked_at: string | null }>(row: Row) {
  return { ...row, blocked: row.blocked_at !== null };
}
