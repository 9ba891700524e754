/** Sends a message: finds or creates its contact and conversation, stores it, and enqueues its delivery. */
import { sql } from "kysely";
import type { z } from "zod";
import { type Failure, permits } from "../../../tools/contract/index.ts";
import { fail } from "../../../tools/errors.ts";
import type { messages as contract } from "../../../tools/messages/index.ts";
import { afterCommit, type Transaction } from "../../database/database.ts";
import { keepPlans, together } from "../../database/transaction.ts";
import { newJob } from "../../jobs/job.ts";
import { isBsuid } from "../contacts/index.ts";
import { type OutboundConversation, recordOutbound, windowOf } from "../conversations/index.ts";
import { isWindowStrict } from "../inboxes.ts";
import { type Change, freshId, recordOf, type WriteContext } from "../kernel/index.ts";
import { type MediaType, toMediaContent } from "../media.ts";
import { normalizePhone } from "../phone/index.ts";
import { composeTemplate, findTemplates, requireApproved, suggestTemplates } from "../templates/index.ts";
import { deliverMessageJob } from "./deliver.ts";
import type { MessageRow } from "./progress.ts";
import { createRecipient, findRecipient, type Recipient } from "./recipient.ts";

type Input = z.output<typeof contract.send_message.input>;

export async function sendMessage(input: Input, context: WriteContext) {
  const { tx, organization, now } = context;
  const { inbox_id } = input;
  const to = await readAddress(tx, organization, input);
  const address = { organization, to, inbox_id };
  const [, contentFor, found] = await together(
    keepPlans(tx),
    readContent(tx, organization, input),
    findRecipient(tx, address),
  );
  const { contact, inbox, conversation } = await createRecipient(tx, found, { ...address, now });
  const content = await contentFor(inbox.id);
  if (contact?.opted_out && content.template?.category === "marketing") {
    throw fail("contact_opted_out", { param: "template.name" });
  }
  const isFree = content.template !== undefined || windowOf(conversation, now).is_within_24h_window;
  if (!isFree && isWindowStrict(inbox)) {
    throw await failOutsideWindow(context, { inbox, conversation });
  }
  const outgoing = { inbox, conversation, to, type: input.type, content };
  const message = await enqueueMessage(context, outgoing);
  return { ...message, ...(isFree ? {} : { warnings: ["outside_service_window"] }) };
}

/** Names approved templates, which may be sent instead, to a caller who may read them. */
async function failOutsideWindow(
  { tx, organization, now, caller }: WriteContext,
  { inbox, conversation }: Pick<Recipient, "inbox" | "conversation">,
): Promise<Failure> {
  const suggestions = permits(caller.scopes, "templates:read")
    ? await suggestTemplates(tx, { organization, inbox_id: inbox.id })
    : [];
  const { window_expires_at } = windowOf(conversation, now);
  return fail("outside_service_window", { window_expired_at: window_expires_at, suggestions });
}

async function readAddress(tx: Transaction, organization: string, { to, inbox_id }: Input): Promise<string> {
  return isBsuid(to) ? to : normalizePhone(tx, organization, { text: to, field: "to", inbox_id });
}

/** The lane of an inbox's deliveries. */
export function laneOf(inbox_id: string): string {
  return `channel:${inbox_id}`;
}

interface OutgoingMessage {
  readonly inbox: { readonly id: string; readonly phone_number: string };
  readonly conversation: OutboundConversation;
  readonly to: string;
  readonly type: Input["type"];
  readonly content: MessageRow["content"];
}

const notSent = {
  channel_message_id: null,
  claimed_at: null,
  sent_at: null,
  delivered_at: null,
  read_at: null,
  failed_at: null,
  error: null,
};

/** Stores a message of the change's actor and enqueues its delivery, after earlier messages of the conversation. */
export async function enqueueMessage(change: Change, outgoing: OutgoingMessage) {
  const { tx, world, now, actor } = change;
  const { inbox, conversation, to, type, content } = outgoing;
  const { organization_id } = conversation;
  const id = freshId({ now }, "msg");
  const created_at = now.toISOString();
  const message: Omit<MessageRow, "transaction_id"> = {
    ...{ organization_id, id, conversation_id: conversation.id, type, content },
    ...({ direction: "outbound", status: "queued" } as const),
    ...{ from: inbox.phone_number, to, sent_by: recordOf(actor), created_at },
    ...notSent,
  };
  const job = newJob(
    deliverMessageJob,
    { organization_id, message_id: id },
    { lane: laneOf(inbox.id), key: conversation.id, subject: conversation.id },
  );
  const [jobInsertion, conversationUpdate] = await together(
    world.jobs.insertion(tx, [job]),
    recordOutbound(change, conversation, created_at),
  );
  await sql`
    with job as (${jobInsertion}), conversation as (${conversationUpdate})
    insert into messages
      (organization_id, id, conversation_id, direction, type, content, "from", "to", status, sent_by, created_at)
    values (${organization_id}, ${id}, ${conversation.id}, ${message.direction}, ${type},
      ${JSON.stringify(content)}::jsonb, ${message.from}, ${to}, ${message.status},
      ${JSON.stringify(message.sent_by)}::jsonb, ${created_at})
  `.execute(tx);
  afterCommit(tx, () => world.metrics.message("queued"));
  return message;
}

type ContentOf = (inbox_id: string) => Promise<MessageRow["content"]>;

/** Reads what the content needs. Which template it is depends on the inbox, which is not known yet. */
async function readContent(tx: Transaction, organization: string, input: Input): Promise<ContentOf> {
  const { template } = input;
  if (template) {
    const { name, language } = template;
    const candidates = await findTemplates(tx, { organization, name, language });
    return async (inbox_id) => {
      const wanted = { organization, name, language, inbox_id };
      const approved = await requireApproved(tx, candidates, wanted);
      return { template: await composeTemplate(tx, approved, template) };
    };
  }
  const content = await toStoredContent(tx, organization, input);
  return async () => content;
}

/** @throws Failure `upload_not_found`, `media_not_sendable`. */
async function toStoredContent(
  tx: Transaction,
  organization: string,
  { type, text, interactive, caption, file_name, media_url = "" }: Input,
): Promise<MessageRow["content"]> {
  if (type === "text") {
    return { text };
  }
  if (type === "interactive") {
    return { interactive };
  }
  // `NewMessage` requires the template of a message of type template.
  const media = { organization, type: type as MediaType, media_url, caption, file_name };
  return { media: await toMediaContent(tx, media) };
}
