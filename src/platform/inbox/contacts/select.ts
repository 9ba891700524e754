/** The query that every read of contacts begins with. */
import type { Queries } from "../../database/database.ts";

/** The contacts of an organization that are not erased. */
export function selectContacts(db: Queries, organization: string) {
  return db.selectFrom("contacts").where("organization_id", "=", organization).where("erased_at", "is", null);
}
