/** The rules that decide whether a message may be sent. */
import { type Failure, permits } from "../../../../../tools/contract/index.ts";
import { fail, failField } from "../../../../../tools/errors.ts";
import type { Queries } from "../../../../database/database.ts";
import { ofOrganization } from "../../../../database/query/index.ts";
import { windowRuleOf } from "../../../account/inboxes/index.ts";
import { suggestTemplates } from "../../../content/templates/index.ts";
import type { OrganizationChange } from "../../../foundation/kernel/index.ts";
import { paymentOf } from "../../../money/wallet/index.ts";
import { windowOf } from "../../conversations/index.ts";
import type { PriceEstimate } from "../charge/index.ts";
import type { MessageRow } from "../progress/index.ts";
import type { Recipient } from "./recipient.ts";

/** What the rules of sending are evaluated with. */
export type SendingContext = Pick<OrganizationChange, "world" | "organization" | "now" | "actor"> & {
  readonly db: Queries;
};

/** What the rules need to know of a recipient, who need not be stored. */
export interface RecipientState extends Pick<Recipient, "inbox" | "conversation"> {
  /** Null if the contact is new. */
  readonly contact: Pick<NonNullable<Recipient["contact"]>, "opted_out"> | null;
}

/** A conversation that does not exist yet. */
const withoutMessages = { last_user_message_at: null };

/** @throws Failure `message_not_found`, `message_not_quotable`. */
export async function requireQuotable(
  { db, organization }: SendingContext,
  conversation: Recipient["conversation"],
  id: string,
): Promise<void> {
  const message =
    conversation &&
    (await ofOrganization(db, organization)
      .selectFrom("messages")
      .select("channel_message_id")
      .where("conversation_id", "=", conversation.id)
      .where("id", "=", id)
      .executeTakeFirst());
  if (!message) {
    throw failField("reply_to", "message_not_found");
  }
  if (message.channel_message_id === null) {
    throw failField("reply_to", "message_not_quotable");
  }
}

interface ComposedMessage extends RecipientState {
  readonly content: MessageRow["content"];
  readonly estimate: PriceEstimate;
}

/** @throws Failure `contact_opted_out`, `outside_service_window`, `price_unknown`. */
export async function requireSendable(
  sending: SendingContext,
  { contact, inbox, conversation, content, estimate }: ComposedMessage,
) {
  if (contact?.opted_out && content.template?.category === "marketing") {
    throw fail("contact_opted_out", { param: "template.name" });
  }
  const isAllowedNow =
    content.template !== undefined || (await requireWindow(sending, { inbox, conversation }));
  const payment = paymentOf(sending.world, inbox);
  const { isLimited } = payment;
  const charge = estimate.chargeOf(content.template?.category, payment);
  if (isLimited && charge === null) {
    throw fail("price_unknown", { currency: estimate.currency });
  }
  return { isAllowedNow, charge, isLimited };
}

/** Whether the window is open, or the inbox has none. @throws Failure `outside_service_window`. */
export async function requireWindow(
  sending: SendingContext,
  { inbox, conversation }: Pick<RecipientState, "inbox" | "conversation">,
): Promise<boolean> {
  const rule = windowRuleOf(sending.world, inbox);
  const { is_within_24h_window } = windowOf(conversation ?? withoutMessages, sending.now);
  const isOpen = rule === "none" || is_within_24h_window;
  if (!isOpen && rule === "strict") {
    throw await failOutsideWindow(sending, { inbox, conversation });
  }
  return isOpen;
}

/** Names approved templates, which may be sent instead, to an actor that may read them. */
async function failOutsideWindow(
  { db, organization, now, actor }: SendingContext,
  { inbox, conversation }: Pick<RecipientState, "inbox" | "conversation">,
): Promise<Failure> {
  const suggestions = permits(actor.scopes, "templates:read")
    ? await suggestTemplates(db, { organization, inbox_id: inbox.id })
    : [];
  const { window_expires_at } = windowOf(conversation ?? withoutMessages, now);
  return fail("outside_service_window", { window_expired_at: window_expires_at, suggestions });
}
