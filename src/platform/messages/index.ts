/** Messages: operations to send, list and wait for them, and the jobs that deliver them. */
import { fail } from "../../../tools/errors.ts";
import { messages as contract } from "../../../tools/messages/index.ts";
import { readPage } from "../../database/query/index.ts";
import { requireConversation } from "../conversations/index.ts";
import { implement } from "../kernel/index.ts";
import { releaseChargesJob } from "./charge/index.ts";
import { changeConsentJob } from "./consent-job.ts";
import { readConversationContext } from "./context.ts";
import { confirmMessageJob, deliverMessageJob } from "./deliver.ts";
import { eraseMessages } from "./erase.ts";
import { deleteOldReceiptsJob } from "./inbound/index.ts";
import { findOriginal, ingressJobs, ingressRoutes } from "./ingress/index.ts";
import { sendMessage } from "./outbound/index.ts";
import { serializeMessage } from "./serialize.ts";
import { requireNoneWaiting } from "./template-uses.ts";
import { waitForMessage } from "./waiting/index.ts";

export { readConsent, receiveChange, receiveMessage, receiveReceipts } from "./inbound/index.ts";
export {
  type BulkMessages,
  composeMessage,
  enqueueBulkMessages,
  replaceBroadcastMessages,
  sendMessage,
} from "./outbound/index.ts";
export { serializeMessage } from "./serialize.ts";
export { getWaiters, requireLive } from "./waiting/index.ts";

export const messages = implement(contract, {
  tables: ["messages", "message_receipts", "parked_receipts", "released_charges", "message_originals"],
  operations: {
    async send_message(input, context) {
      return { data: serializeMessage(context.world, await sendMessage(input, context)) };
    },

    async list_messages({ conversation_id, ...paging }, { db, world, organization }) {
      await requireConversation(db, organization, conversation_id);
      const query = db
        .selectFrom("messages")
        .selectAll()
        .where("organization_id", "=", organization)
        .where("conversation_id", "=", conversation_id)
        .orderBy("id", "desc");
      const { rows, meta } = await readPage(query, paging);
      return { data: rows.map((row) => serializeMessage(world, row)), meta };
    },

    async get_conversation_context(input, context) {
      return { data: await readConversationContext(input, context) };
    },

    async wait_for_message(input, context) {
      return { data: await waitForMessage(input, context) };
    },

    async get_message({ conversation_id, message_id }, { db, world, organization }) {
      await requireConversation(db, organization, conversation_id);
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
      const { unsupported, ...shown } = serializeMessage(world, message);
      const original = unsupported && (await findOriginal(db, message));
      return { data: { ...shown, unsupported: unsupported && { ...unsupported, original } } };
    },
  },
  jobs: [
    ...[deliverMessageJob, confirmMessageJob, releaseChargesJob, deleteOldReceiptsJob, changeConsentJob],
    ...ingressJobs,
  ],
  routes: ingressRoutes,
  hooks: { templateWithdrawn: requireNoneWaiting },
  erase: { later: eraseMessages },
});
