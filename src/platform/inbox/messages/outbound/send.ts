/** Sends a message: finds or creates its contact and conversation, stores it, and enqueues its delivery. */
import type { z } from "zod";
import { type Failure, permits } from "../../../../../tools/contract/index.ts";
import { fail, failField } from "../../../../../tools/errors.ts";
import type { messages as contract } from "../../../../../tools/messages/index.ts";
import type { Queries } from "../../../../database/database.ts";
import { ofOrganization } from "../../../../database/query/index.ts";
import { keepPlans, together } from "../../../../database/transaction.ts";
import { isWindowStrict, warnOfHealth } from "../../../account/inboxes/index.ts";
import { type MediaType, toMediaContent } from "../../../content/media.ts";
import {
  composeTemplate,
  findTemplates,
  requireApproved,
  suggestTemplates,
} from "../../../content/templates/index.ts";
import type { OrganizationChange } from "../../../foundation/kernel/index.ts";
import { paymentOf } from "../../../money/wallet/index.ts";
import { windowOf } from "../../conversations/index.ts";
import { type Estimate, readEstimate } from "../charge/index.ts";
import type { MessageRow } from "../progress.ts";
import { readAddress } from "./address.ts";
import { enqueueMessage } from "./enqueue.ts";
import { createRecipient, findRecipient, type Recipient } from "./recipient.ts";

type Input = z.output<typeof contract.send_message.input>;

/** The actor may be one without a caller, such as a flow. */
export async function sendMessage(input: Input, context: OrganizationChange) {
  const { tx, organization } = context;
  const { reply_to } = input;
  const { to, inbox_id } = await readAddress(tx, organization, input);
  const address = { organization, to, inbox_id };
  const [, contentFor, found, estimate] = await together(
    keepPlans(tx),
    readContent(tx, organization, input),
    findRecipient(tx, address),
    readEstimate(tx, organization, to),
  );
  const { contact, inbox, conversation } = await createRecipient(context, found, address);
  if (reply_to !== undefined) {
    await requireQuotable(tx, conversation, reply_to);
  }
  const content = await contentFor(inbox.id);
  const sending = { ...context, db: tx };
  const checked = await requireSendable(sending, { contact, inbox, conversation, content, estimate });
  const { isFree, charge, isLimited } = checked;
  const outgoing = { inbox, conversation, to, type: input.type, content, charge, isLimited, reply_to };
  const message = await enqueueMessage(context, outgoing);
  const warnings = [...(isFree ? [] : ["outside_service_window"]), ...warnOfHealth(inbox.health)];
  return { ...message, ...(warnings.length === 0 ? {} : { warnings }) };
}

/** @throws Failure `message_not_found`, `message_not_quotable`. */
async function requireQuotable(
  db: Queries,
  { organization_id, id: conversation_id }: Recipient["conversation"],
  id: string,
): Promise<void> {
  const message = await ofOrganization(db, organization_id)
    .selectFrom("messages")
    .select("channel_message_id")
    .where("conversation_id", "=", conversation_id)
    .where("id", "=", id)
    .executeTakeFirst();
  if (!message) {
    throw failField("reply_to", "message_not_found");
  }
  if (message.channel_message_id === null) {
    throw failField("reply_to", "message_not_quotable");
  }
}

/** What the rules of sending are evaluated with. */
type Sending = Pick<OrganizationChange, "world" | "organization" | "now" | "actor"> & {
  readonly db: Queries;
};

/**
 * Composes a message without sending it, and applies the rules of sending to it; the recipient need not be stored.
 * @returns `held` in millionths of the currency: what must be available of the real or the `simulated` money; 0 if the
 * wallet need not pay.
 * @throws Failure those of `sendMessage`, but for `insufficient_funds`.
 */
export async function composeMessage(
  input: Input,
  sending: Sending,
  { contact, inbox, conversation }: Recipient,
): Promise<{ readonly content: MessageRow["content"]; readonly held: number; readonly simulated: boolean }> {
  const { db, organization } = sending;
  const contentFor = await readContent(db, organization, input);
  const estimate = await readEstimate(db, organization, input.to);
  const content = await contentFor(inbox.id);
  const outgoing = { contact, inbox, conversation, content, estimate };
  const { charge, isLimited } = await requireSendable(sending, outgoing);
  const { held = 0, simulated = false } = charge ?? {};
  return { content, held: isLimited ? held : 0, simulated };
}

interface Checked extends Recipient {
  readonly content: MessageRow["content"];
  readonly estimate: Estimate;
}

/** @throws Failure `contact_opted_out`, `outside_service_window`, `price_unknown`. */
async function requireSendable(
  sending: Sending,
  { contact, inbox, conversation, content, estimate }: Checked,
) {
  if (contact?.opted_out && content.template?.category === "marketing") {
    throw fail("contact_opted_out", { param: "template.name" });
  }
  const { is_within_24h_window } = windowOf(conversation, sending.now);
  const isFree = content.template !== undefined || is_within_24h_window;
  if (!isFree && isWindowStrict(inbox)) {
    throw await failOutsideWindow(sending, { inbox, conversation });
  }
  const payment = paymentOf(sending.world, inbox);
  const { isLimited } = payment;
  const charge = estimate.chargeOf(content.template?.category, payment);
  if (isLimited && charge === null) {
    throw fail("price_unknown", { currency: estimate.currency });
  }
  return { isFree, charge, isLimited };
}

/** Names approved templates, which may be sent instead, to an actor that may read them. */
async function failOutsideWindow(
  { db, organization, now, actor }: Sending,
  { inbox, conversation }: Pick<Recipient, "inbox" | "conversation">,
): Promise<Failure> {
  const suggestions = permits(actor.scopes, "templates:read")
    ? await suggestTemplates(db, { organization, inbox_id: inbox.id })
    : [];
  const { window_expires_at } = windowOf(conversation, now);
  return fail("outside_service_window", { window_expired_at: window_expires_at, suggestions });
}

type ContentOf = (inbox_id: string) => Promise<MessageRow["content"]>;

/** Reads what the content needs. Which template it is depends on the inbox, which is not known yet. */
async function readContent(db: Queries, organization: string, input: Input): Promise<ContentOf> {
  const { template } = input;
  if (template) {
    const { name, language } = template;
    const candidates = await findTemplates(db, { organization, name, language });
    return async (inbox_id) => {
      const wanted = { organization, name, language, inbox_id };
      const approved = await requireApproved(db, candidates, wanted);
      return { template: await composeTemplate(db, approved, template) };
    };
  }
  const content = await toStoredContent(db, organization, input);
  return async () => content;
}

/** @throws Failure `upload_not_found`, `media_not_sendable`. */
async function toStoredContent(
  db: Queries,
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
  return { media: await toMediaContent(db, media) };
}
