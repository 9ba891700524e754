/**
 * Reports what became of a sent message: sent and delivered by themselves, read only when
 * the controls say so.
 */
import { toUnixSeconds } from "../clock.ts";
import { statusError } from "../contract/graph-error.ts";
import { type Customer, threadOf } from "../state/customers.ts";
import { hasStatus, type MessageStatus, type SentMessage } from "../state/messages.ts";
import { findNode, type Phone } from "../state/store.ts";
import type { World } from "../world.ts";

export interface StatusChange {
  readonly status: MessageStatus;
  readonly code?: number | undefined;
}

/** Schedules the reports of an accepted message, or of one that fails with this code. */
export function scheduleStatuses(world: World, message: SentMessage, code: number | undefined): void {
  const { clock, faults } = world;
  const { sent_delay_ms, delivered_delay_ms } = faults.settings;
  if (code !== undefined) {
    clock.after(sent_delay_ms, () => reportStatus(world, message, { status: "failed", code }));
    return;
  }
  clock.after(sent_delay_ms, () => reportStatus(world, message, { status: "sent" }));
  // Of a reaction only that it was sent is reported.
  if (message.type !== "reaction" && !faults.hits("undelivered")) {
    clock.after(Math.max(sent_delay_ms, delivered_delay_ms), () => {
      // It may have been read or have failed meanwhile.
      if (message.statuses.every(({ status }) => status === "sent")) {
        reportStatus(world, message, { status: "delivered" });
      }
    });
  }
}

/** Stores the status and sends its webhook. */
export function reportStatus(world: World, message: SentMessage, { status, code }: StatusChange): void {
  const phone = findNode(world.store, "phone", message.phone_number_id);
  const customer = message.user_id === null ? undefined : world.store.customers.get(message.user_id);
  if (!phone || !customer) {
    return;
  }
  const isFirstDelivery = !hasStatus(message, "delivered") && !hasStatus(message, "read");
  const now = world.clock.now();
  message.statuses.push({ status, at: new Date(now).toISOString(), code });
  const isPriced = status === "sent" || (isFirstDelivery && (status === "delivered" || status === "read"));
  const callbackData = message.body.biz_opaque_callback_data;
  const entry = {
    id: message.id,
    status,
    timestamp: toUnixSeconds(now),
    ...recipientOf(message, customer),
    ...(callbackData === undefined ? {} : { biz_opaque_callback_data: callbackData }),
    ...(isPriced ? describePrice(message, customer, now) : {}),
    ...(code === undefined ? {} : { errors: [statusError(code, failureDetails[code])] }),
  };
  emitMessagesChange(world, phone, { statuses: [entry] });
}

/** Sends a change of the field `messages`. */
export function emitMessagesChange(world: World, phone: Phone, content: object): void {
  const value = {
    messaging_product: "whatsapp",
    metadata: { display_phone_number: phone.number, phone_number_id: phone.id },
    ...content,
  };
  world.webhooks.emit([{ account_id: phone.account_id, field: "messages", value }]);
}

const failureDetails: Readonly<Record<number, string>> = {
  131047:
    "Message failed to send because more than 24 hours have passed since the customer last replied to this number.",
  131026: "Message undeliverable.",
  131050: "Unable to deliver the message. This recipient has chosen to stop receiving marketing messages.",
  131053: "Media could not be fetched, or its type or size is not supported.",
};

/** A hidden number is left out unless the message was sent to it. */
function recipientOf(message: SentMessage, customer: Customer): object {
  const number = message.number ?? (customer.hides_number ? null : customer.number);
  return {
    ...(number === null ? {} : { recipient_id: number }),
    recipient_user_id: customer.user_id,
  };
}

/** Since v24 only messages after a click on an ad have a conversation. */
function describePrice(message: SentMessage, customer: Customer, now: number): object {
  const freeUntil = threadOf(customer, message.phone_number_id).free_entry_ends_at;
  const isFree = freeUntil > now;
  const pricing = {
    billable: !isFree,
    pricing_model: "PMP",
    type: isFree ? "free_entry_point" : "regular",
    category: isFree ? "referral_conversion" : message.category,
  };
  if (!isFree) {
    return { pricing };
  }
  const conversation = {
    id: `${message.phone_number_id}-${customer.user_id}`,
    expiration_timestamp: toUnixSeconds(freeUntil),
    origin: { type: "referral_conversion" },
  };
  return { conversation, pricing };
}
