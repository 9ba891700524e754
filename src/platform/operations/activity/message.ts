/** The message that is explained. */
import type { Selectable } from "kysely";
import { fail } from "../../../../tools/errors.ts";
import type { Queries } from "../../../database/database.ts";
import { ofOrganization, refersTo } from "../../../database/query/index.ts";
import type { InboxHealth, Tables } from "../../../database/schema/index.ts";
import { healthOfMessage } from "../../inbox/messages/index.ts";

export type ExplainedMessage = Selectable<Tables["messages"]> & {
  readonly contact_id: string;
  readonly health: InboxHealth | null;
};

/** @throws Failure `message_not_found`. */
export async function findMessage(db: Queries, organization: string, id: string): Promise<ExplainedMessage> {
  const message = await ofOrganization(db, organization)
    .selectFrom("messages")
    .innerJoin("conversations", (join) => join.on(refersTo("messages.conversation_id", "conversations")))
    .selectAll("messages")
    .select(["conversations.contact_id", healthOfMessage])
    .where("messages.id", "=", id)
    .executeTakeFirst();
  if (!message) {
    throw fail("message_not_found");
  }
  return message;
}
