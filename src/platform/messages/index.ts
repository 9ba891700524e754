/** Messages: send, list and follow them; the channel's side is in deliver and receive. */
import { fail } from "../../../tools/failure.ts";
import { messages as contract } from "../../../tools/messages.ts";
import type { Queries } from "../../database/database.ts";
import { implement } from "../core/module.ts";
import { readPage } from "../core/page.ts";
import { confirm, deliver } from "./deliver.ts";
import type { MessageError } from "./failures.ts";
import type { MessageRow } from "./progress.ts";
import { forgetParked } from "./receive.ts";
import { queueMessage } from "./send.ts";

export { receiveMessage, receiveReceipts } from "./receive.ts";

export const messages = implement(contract, {
  unbuilt: ["get_conversation_context", "wait_for_message"],
  unbuiltTools: ["send_template_message"],
  operations: {
    async send_message(input, context) {
      return { data: show(await queueMessage(input, context)) };
    },

    async list_messages({ conversation_id, ...paging }, { db, organization }) {
      await requireThread(db, organization, conversation_id);
      const found = db
        .selectFrom("messages")
        .selectAll()
        .where("organization_id", "=", organization)
        .where("conversation_id", "=", conversation_id)
        .orderBy("id", "desc");
      const { rows, meta } = await readPage(found, paging);
      return { data: rows.map(show), meta };
    },

    async get_message({ conversation_id, message_id }, { db, organization }) {
      await requireThread(db, organization, conversation_id);
      const message = await db
        .selectFrom("messages")
        .selectAll()
        .where("organization_id", "=", organization)
        .where("conversation_id", "=", conversation_id)
        .where("id", "=", message_id)
        .executeTakeFirst();
      if (!message) {
        throw fail("message_not_found");
      }
      return { data: show(message) };
    },
  },
  jobs: [deliver, confirm, forgetParked],
});

/** A row as the contract shows it: a message that is on its way out is still queued to its sender. */
function show<Row extends MessageRow>(row: Row) {
  const { text = null, media = null, interactive = null, reply = null } = row.content as Partial<Content>;
  return {
    ...row,
    text,
    media,
    interactive,
    reply,
    status: row.status === "sending" ? ("queued" as const) : row.status,
    // Written from a MessageError by `move`.
    error: row.error as MessageError | null,
  };
}

interface Content {
  text: { body: string };
  media: { url: string; caption: string | null; file_name: string | null };
  interactive: Record<string, unknown>;
  reply: { id: string; title: string };
}

async function requireThread(db: Queries, organization: string, id: string): Promise<void> {
  const thread = await db
    .selectFrom("conversations")
    .innerJoin("contacts", (join) =>
      join
        .onRef("contacts.organization_id", "=", "conversations.organization_id")
        .onRef("contacts.id", "=", "conversations.contact_id"),
    )
    .select("conversations.id")
    .where("conversations.organization_id", "=", organization)
    .where("conversations.id", "=", id)
    .where("contacts.erased_at", "is", null)
    .executeTakeFirst();
  if (!thread) {
    throw fail("conversation_not_found");
  }
}
