/** Sends a message: finds or creates its contact and conversation, stores it, and enqueues its delivery. */
import type { z } from "zod";
import { type Failure, permits } from "../../../../../tools/contract/index.ts";
import { fail, failField } from "../../../../../tools/errors.ts";
import type { messages as contract } from "../../../../../tools/messages/index.ts";
import type { Queries } from "../../../../database/database.ts";
import { ofOrganization } from "../../../../database/query/index.ts";
import { keepPlans, together } from "../../../../database/transaction.ts";
import type { ChannelCapabilities } from "../../../../ports/channel/capabilities.ts";
import type { MediaType } from "../../../../ports/channel/message-content.ts";
import { capabilitiesOf, warnOfHealth, windowRuleOf } from "../../../account/inboxes/index.ts";
import { readMedia } from "../../../content/media/index.ts";
import {
  composeTemplate,
  findTemplates,
  requireApproved,
  requireTemplates,
  suggestTemplates,
} from "../../../content/templates/index.ts";
import type { OrganizationChange } from "../../../foundation/kernel/index.ts";
import { paymentOf } from "../../../money/wallet/index.ts";
import { windowOf } from "../../conversations/index.ts";
import { type PriceEstimate, readEstimate } from "../charge/index.ts";
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
    readContent({ ...context, db: tx }, input),
    findRecipient(tx, address),
    readEstimate(tx, organization, to),
  );
  const { contact, inbox, conversation, addressee } = await createRecipient(context, found, address);
  if (reply_to !== undefined) {
    await requireQuotable(tx, conversation, reply_to);
  }
  const content = await contentFor(inbox);
  const sending = { ...context, db: tx };
  const checked = await requireSendable(sending, { contact, inbox, conversation, content, estimate });
  const { isFree, charge, isLimited } = checked;
  const outgoing = { inbox, conversation, to, type: input.type, content, charge, isLimited, reply_to };
  const message = await enqueueMessage(context, outgoing);
  const warnings = [...(isFree ? [] : ["outside_service_window"]), ...warnOfHealth(inbox.health)];
  return {
    ...message,
    channel: inbox.channel,
    contact: addressee,
    ...(warnings.length === 0 ? {} : { warnings }),
  };
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
type SendingContext = Pick<OrganizationChange, "world" | "organization" | "now" | "actor"> & {
  readonly db: Queries;
};

/**
 * Composes a message without sending it, and applies the rules of sending to it; the
 * recipient need not be stored.
 * @returns `held` in millionths of the currency: what must be available of the real or the `simulated` money;
 * 0 if the wallet need not pay.
 * @throws Failure as `sendMessage`, except `insufficient_funds`.
 */
export async function composeMessage(
  input: Input,
  sending: SendingContext,
  { contact, inbox, conversation }: Recipient,
): Promise<{ readonly content: MessageRow["content"]; readonly held: number; readonly simulated: boolean }> {
  const { db, organization } = sending;
  const contentFor = await readContent(sending, input);
  const estimate = await readEstimate(db, organization, input.to);
  const content = await contentFor(inbox);
  const outgoing = { contact, inbox, conversation, content, estimate };
  const { charge, isLimited } = await requireSendable(sending, outgoing);
  const { held = 0, simulated = false } = charge ?? {};
  return { content, held: isLimited ? held : 0, simulated };
}

interface CheckedMessage extends Recipient {
  readonly content: MessageRow["content"];
  readonly estimate: PriceEstimate;
}

/** @throws Failure `contact_opted_out`, `outside_service_window`, `price_unknown`. */
async function requireSendable(
  sending: SendingContext,
  { contact, inbox, conversation, content, estimate }: CheckedMessage,
) {
  if (contact?.opted_out && content.template?.category === "marketing") {
    throw fail("contact_opted_out", { param: "template.name" });
  }
  const rule = windowRuleOf(sending.world, inbox);
  const { is_within_24h_window } = windowOf(conversation, sending.now);
  const isFree = rule === "none" || content.template !== undefined || is_within_24h_window;
  if (!isFree && rule === "strict") {
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
  { db, organization, now, actor }: SendingContext,
  { inbox, conversation }: Pick<Recipient, "inbox" | "conversation">,
): Promise<Failure> {
  const suggestions = permits(actor.scopes, "templates:read")
    ? await suggestTemplates(db, { organization, inbox_id: inbox.id })
    : [];
  const { window_expires_at } = windowOf(conversation, now);
  return fail("outside_service_window", { window_expired_at: window_expires_at, suggestions });
}

type ContentOf = (inbox: Pick<Recipient["inbox"], "id" | "channel">) => Promise<MessageRow["content"]>;

/**
 * Reads what the content needs. Which template it is, and what its channel accepts, depends on the inbox,
 * which is not known yet.
 * @throws Failure `upload_not_found`; the result throws `templates_not_supported`, `template_not_approved`,
 * `content_not_supported`, `media_not_sendable`.
 */
async function readContent({ db, world, organization }: SendingContext, input: Input): Promise<ContentOf> {
  const { type, text, template, interactive, caption, file_name, media_url = "" } = input;
  if (template) {
    const { name, language } = template;
    const candidates = await findTemplates(db, { organization, name, language });
    return async ({ id: inbox_id, channel }) => {
      requireTemplates(world, channel);
      const wanted = { organization, name, language, inbox_id };
      const approved = await requireApproved(db, candidates, wanted);
      const { media } = capabilitiesOf(world, { channel });
      return { template: await composeTemplate(db, { template: approved, media }, template) };
    };
  }
  if (interactive) {
    return async (inbox) => {
      requireChoices(capabilitiesOf(world, inbox), interactive);
      return { interactive };
    };
  }
  if (type === "text") {
    return async () => ({ text });
  }
  // `NewMessage` requires the content of each type: what is left are the types of media.
  const wanted = { organization, type: type as MediaType, media_url, caption, file_name };
  const mediaFor = await readMedia(db, wanted);
  return async (inbox) => ({ media: mediaFor(capabilitiesOf(world, inbox).media) });
}

/** @throws Failure `content_not_supported`. */
function requireChoices(
  { interactive: limits }: ChannelCapabilities,
  { buttons = [], list }: NonNullable<Input["interactive"]>,
): void {
  const rows = list?.sections.flatMap((section) => section.rows) ?? [];
  if (buttons.length > (limits?.buttons ?? 0)) {
    throw fail("content_not_supported", { content: `${buttons.length} buttons in a message` });
  }
  if (rows.length > (limits?.rows ?? 0)) {
    throw fail("content_not_supported", { content: `a list of ${rows.length} rows` });
  }
}
