/** Sends a message: finds or creates its contact and conversation, stores it, and enqueues its delivery. */
import type { z } from "zod";
import { fail, failField } from "../../../tools/errors.ts";
import type { messages as contract } from "../../../tools/messages/index.ts";
import { afterCommit, type Transaction } from "../../database/database.ts";
import { refersTo } from "../../database/query/index.ts";
import { findByBsuid, findOrCreateContact, isBsuid } from "../contacts/index.ts";
import { findOrCreateConversation, recordOutbound, windowOf } from "../conversations/index.ts";
import { isWindowStrict } from "../inboxes.ts";
import { type Change, freshId, recordOf, type WriteContext } from "../kernel/index.ts";
import { normalizePhone } from "../phone/index.ts";
import type { ConversationRow } from "../routing/index.ts";
import { deliverMessageJob } from "./deliver.ts";
import { toMediaContent } from "./media.ts";
import type { MessageRow } from "./progress.ts";

type Input = z.output<typeof contract.send_message.input>;

export async function sendMessage(input: Input, context: WriteContext) {
  const { tx, organization, now } = context;
  const content = await toStoredContent(tx, organization, input);
  const { contact, to } = await findRecipient(input, context);
  const inbox = await chooseInbox(tx, { organization, contact_id: contact.id, inbox_id: input.inbox_id });
  const conversation = await findOrCreateConversation(tx, {
    organization,
    inbox_id: inbox.id,
    contact_id: contact.id,
    now,
  });
  const { is_within_24h_window: isOpen, window_expires_at } = windowOf(conversation, now);
  if (!isOpen && isWindowStrict(inbox)) {
    throw fail("outside_service_window", { window_expired_at: window_expires_at });
  }
  const outgoing = { inbox, conversation, to, type: input.type, content };
  const message = await enqueueMessage(context, outgoing);
  return { ...message, ...(isOpen ? {} : { warnings: ["outside_service_window"] }) };
}

/** Any phone number may be a recipient; a business-scoped id, which the channel assigns, must be a contact's. */
async function findRecipient({ to, inbox_id }: Input, { tx, organization, now }: WriteContext) {
  if (!isBsuid(to)) {
    const phone_number = await normalizePhone(tx, organization, { text: to, field: "to", inbox_id });
    const { contact } = await findOrCreateContact(tx, { organization, phone_number, now });
    return { contact, to: phone_number };
  }
  const contact = await findByBsuid(tx, organization, to);
  if (!contact) {
    throw failField("to", "contact_not_found");
  }
  return { contact, to };
}

interface OutgoingMessage {
  readonly inbox: { readonly id: string; readonly phone_number: string };
  readonly conversation: ConversationRow;
  readonly to: string;
  readonly type: Input["type"];
  readonly content: MessageRow["content"];
}

/** Stores a message of the change's actor and enqueues its delivery, after earlier messages of the conversation. */
export async function enqueueMessage(change: Change, outgoing: OutgoingMessage) {
  const { tx, world, now, actor } = change;
  const { inbox, conversation, to, type, content } = outgoing;
  const { organization_id } = conversation;
  const message = await tx
    .insertInto("messages")
    .values({
      organization_id,
      id: freshId({ now }, "msg"),
      conversation_id: conversation.id,
      direction: "outbound",
      type,
      content: JSON.stringify(content),
      from: inbox.phone_number,
      to,
      status: "queued",
      sent_by: JSON.stringify(recordOf(actor)),
      created_at: now.toISOString(),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  await world.jobs.enqueue(
    tx,
    deliverMessageJob,
    { organization_id, message_id: message.id },
    { lane: `channel:${inbox.id}`, key: conversation.id, subject: conversation.id },
  );
  await recordOutbound(change, conversation, now.toISOString());
  afterCommit(tx, () => world.metrics.message("queued"));
  return message;
}

interface InboxChoice {
  readonly organization: string;
  readonly contact_id: string;
  readonly inbox_id: string | undefined;
}

/** The requested inbox; otherwise that of the contact's latest conversation; otherwise the first one. */
async function chooseInbox(tx: Transaction, { organization, contact_id, inbox_id }: InboxChoice) {
  const inbox = await tx
    .selectFrom("inboxes")
    .leftJoin("conversations", (join) =>
      join.on(refersTo("conversations.inbox_id", "inboxes")).on("conversations.contact_id", "=", contact_id),
    )
    .selectAll("inboxes")
    .where("inboxes.organization_id", "=", organization)
    .$if(inbox_id !== undefined, (query) => query.where("inboxes.id", "=", inbox_id ?? ""))
    .orderBy("conversations.last_message_at", (order) => order.desc().nullsLast())
    .orderBy("inboxes.id")
    .limit(1)
    .executeTakeFirst();
  if (!inbox) {
    throw inbox_id === undefined ? fail("no_inbox") : fail("inbox_not_found", { param: "inbox_id" });
  }
  return inbox;
}

/** @throws Failure `template_not_approved`, `upload_not_found`, `media_not_sendable`. */
async function toStoredContent(
  tx: Transaction,
  organization: string,
  input: Input,
): Promise<MessageRow["content"]> {
  const { type, text, interactive, template, caption, file_name, media_url = "" } = input;
  if (type === "template") {
    // Templates are not implemented yet, so none is approved.
    throw fail("template_not_approved", { name: template?.name, language: template?.language });
  }
  if (type === "text") {
    return { text };
  }
  if (type === "interactive") {
    return { interactive };
  }
  return { media: await toMediaContent(tx, { organization, type, media_url, caption, file_name }) };
}
