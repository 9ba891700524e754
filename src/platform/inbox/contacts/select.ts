/** The query that every read of contacts begins with. */
import type { Queries } from "../../../database/database.ts";
import { ofOrganization } from "../../../database/query/index.ts";

/** The contacts of an organization that are not erased. */
export function selectContacts(db: Queries, organization: string) {
  return ofOrganization(db, organization).selectFrom("contacts").where("erased_at", "is", null);
}
