/** Messages: operations to send, list and wait for them, and the jobs that deliver them. */

import { conversations as conversationsContract } from "../../../../tools/conversations.ts";
import { fail } from "../../../../tools/errors.ts";
import { messages as contract } from "../../../../tools/messages/index.ts";
import { ofOrganization, readPage } from "../../../database/query/index.ts";
import { templateWithdrawn } from "../../content/templates/index.ts";
import { implement } from "../../foundation/kernel/index.ts";
import { erasesContact } from "../contacts/index.ts";
import { requireConversation, updateConversation } from "../conversations/index.ts";
import { latestMessages } from "../routing/index.ts";
import { releaseChargesJob } from "./charge/index.ts";
import { changeConsentJob } from "./consent-job.ts";
import {
  confirmMessageJob,
  deliverMessageJob,
  markReadJob,
  newReadMarks,
  requireNoneWaiting,
  sealedCodes,
} from "./delivery/index.ts";
import { deleteOriginalsJob, eraseMessages, eraseReceivedFiles } from "./erase.ts";
import { inboundJobs, inboundRoutes } from "./inbound/index.ts";
import { awaitDelivery, planMessage, sendAlone, sendPlanned, sendTogether } from "./outbound/index.ts";
import { reactToMessage } from "./react.ts";
import {
  indexMessagesJob,
  listConversations,
  readConversationContext,
  readInboxReport,
  readLatestMessages,
  searchMessages,
  viewMedia,
} from "./reading/index.ts";
import { channelOfMessage, healthOfMessage, serializeMessage } from "./serialize.ts";
import { waitForMessage } from "./waiting/index.ts";

export { readConsent } from "./consent/index.ts";
export { claimRestoredMessages, waitOf } from "./delivery/index.ts";
export { automationIn, type BroadcastProgress, broadcastProgressed } from "./hooks.ts";
export { receiveChange, receiveMessage, receiveReceipts } from "./inbound/index.ts";
export {
  type BulkMessages,
  composeMessage,
  contactIdOf,
  enqueueBulkMessages,
  planMessage,
  readAddress,
  replaceBroadcastMessages,
  sendMessage,
  sendPlanned,
} from "./outbound/index.ts";
export { healthOfMessage, serializeMessage } from "./serialize.ts";
export { waitWhilePending } from "./waiting/index.ts";

const { list_conversations, update_conversation } = conversationsContract;

export const messages = implement(
  { ...contract, list_conversations, update_conversation },
  {
    tables: [
      "messages",
      "message_receipts",
      "parked_receipts",
      "released_charges",
      "message_words",
      "message_searches",
      "read_marks",
      "message_originals",
    ],
    sealed: [sealedCodes],
    operations: {
      send_message: {
        async handle(input, context) {
          return { data: serializeMessage(context.world, await sendAlone(input, context)) };
        },
        async handleTogether(batch, calls) {
          const sent = await sendTogether(batch, calls);
          return sent.map((message) => message && { data: serializeMessage(batch.world, message) });
        },
        async afterCommit({ data, ...response }, { wait_seconds = 0 }, context) {
          return wait_seconds === 0
            ? undefined
            : { ...response, data: await awaitDelivery(data, wait_seconds, context) };
        },
        planned: {
          reads: null,
          plan: planMessage,
          async run(input, context, call) {
            return { data: serializeMessage(context.world, await sendPlanned(input, context, call)) };
          },
        },
      },

      async list_messages({ conversation_id, ...paging }, { db, world, organization }) {
        await requireConversation(db, organization, conversation_id);
        const query = ofOrganization(db, organization)
          .selectFrom("messages")
          .selectAll()
          .select([channelOfMessage, healthOfMessage])
          .where("conversation_id", "=", conversation_id)
          .orderBy("id", "desc");
        const { rows, meta } = await readPage(query, paging);
        return { data: rows.map((row) => serializeMessage(world, row)), meta };
      },

      async list_conversations(input, context) {
        return listConversations(input, context);
      },

      async update_conversation(input, context) {
        const { tx, world, organization, now } = context;
        const data = await updateConversation(input, context);
        if (input.is_unread === false) {
          const inbox = await ofOrganization(tx, organization)
            .selectFrom("inboxes")
            .select(["channel", "settings"])
            .where("id", "=", data.inbox_id)
            .executeTakeFirstOrThrow();
          const read = { inbox, organization_id: organization, conversation_id: input.id, now };
          await tx.enqueue(newReadMarks(world, { ...read, isUnanswered: true }));
        }
        return { data };
      },

      async get_conversation_context(input, context) {
        return { data: await readConversationContext(input, context) };
      },

      async search_messages(input, context) {
        return { data: await searchMessages(input, context) };
      },

      async get_inbox_report(input, context) {
        return { data: await readInboxReport(input, context) };
      },

      wait_for_message: waitForMessage,

      async get_message({ conversation_id, message_id }, { db, world, organization }) {
        await requireConversation(db, organization, conversation_id);
        const message = await ofOrganization(db, organization)
          .selectFrom("messages")
          .selectAll()
          .select([channelOfMessage, healthOfMessage])
          .where("conversation_id", "=", conversation_id)
          .where("id", "=", message_id)
          .executeTakeFirst();
        if (!message) {
          throw fail("message_not_found");
        }
        return { data: serializeMessage(world, message) };
      },

      react_to_message: reactToMessage,

      async view_media(input, context) {
        return { data: await viewMedia(input, context) };
      },
    },
    jobs: [
      deliverMessageJob,
      confirmMessageJob,
      markReadJob,
      releaseChargesJob,
      changeConsentJob,
      indexMessagesJob,
      deleteOriginalsJob,
      ...inboundJobs,
    ],
    routes: inboundRoutes,
    hooks: [templateWithdrawn.handledBy(requireNoneWaiting), latestMessages.handledBy(readLatestMessages)],
    erase: erasesContact({ later: [eraseReceivedFiles, eraseMessages] }),
  },
);
