/** Messages: send, list and follow them; the channel's side is in deliver and receive. */
import { fail } from "../../../tools/errors.ts";
import { messages as contract } from "../../../tools/messages/index.ts";
import { readPage } from "../../database/query/index.ts";
import { requireThread } from "../conversations/index.ts";
import { implement } from "../kernel/index.ts";
import { readContext } from "./context.ts";
import { confirm, deliver } from "./deliver.ts";
import { forgetParked } from "./inbound/index.ts";
import { queueMessage } from "./send.ts";
import { show } from "./show.ts";
import { waitForMessage } from "./waiting/index.ts";

export { receiveMessage, receiveReceipts } from "./inbound/index.ts";

export const messages = implement(contract, {
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

    async get_conversation_context(input, context) {
      return { data: await readContext(input, context) };
    },

    async wait_for_message(input, context) {
      return { data: await waitForMessage(input, context) };
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
