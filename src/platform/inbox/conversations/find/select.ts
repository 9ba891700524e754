/** The rows of conversations. */
import type { Selectable } from "kysely";
import type { Queries } from "../../../../database/database.ts";
import { ofOrganization } from "../../../../database/query/index.ts";
import type { Tables } from "../../../../database/schema/index.ts";

export type ConversationRow = Selectable<Tables["conversations"]>;

/** Conversations whose contact has not been erased. */
export function selectConversations(db: Queries, organization: string) {
  return ofOrganization(db, organization)
    .selectFrom("conversations")
    .where("conversations.erased_at", "is", null);
}
