/** Controls of a customer's phone: what it shows, reading, and another number. */
import { z } from "zod";
import { toUnixSeconds } from "../clock.ts";
import { emitMessagesChange, reportStatus } from "../sending/statuses.ts";
import { findCustomer, moveCustomer, threadOf } from "../state/customers.ts";
import { newMessageId } from "../state/ids.ts";
import { hasStatus, type InboundRecord } from "../state/messages.ts";
import { findNode } from "../state/store.ts";
import {
  ControlError,
  type ControlRequest,
  number,
  parse,
  readLimit,
  requireCustomer,
  requirePhone,
} from "./input.ts";
import { describeSent } from "./traffic.ts";

/** Both directions, the newest first. A failed message is not on the phone. */
export function listThread({ world, params, query }: ControlRequest): object {
  const customer = requireCustomer(world, params.key ?? "");
  const { sent, inbound } = world.store;
  const out = [...sent.values()]
    .filter((message) => message.user_id === customer.user_id && !hasStatus(message, "failed"))
    .map((message) => ({
      at: message.received_at,
      entry: { direction: "outbound", ...describeSent(message) },
    }));
  const incoming = [...inbound.values()]
    .filter(({ user_id }) => user_id === customer.user_id)
    .map((message) => ({
      at: message.received_at,
      entry: { direction: "inbound", ...describeInbound(message) },
    }));
  const all = [...out, ...incoming].sort((one, other) => other.at - one.at);
  const now = world.clock.now();
  const typing = [...customer.threads]
    .filter(([, { typing_ends_at }]) => typing_ends_at > now)
    .map(([id]) => id);
  return { typing, data: all.slice(0, readLimit(query)).map(({ entry }) => entry) };
}

function describeInbound({ received_at, read_at, ...message }: InboundRecord): object {
  const readAt = read_at === null ? null : new Date(read_at).toISOString();
  return { ...message, received_at: new Date(received_at).toISOString(), read_at: readAt };
}

const ReadInput = z.strictObject({ message_id: z.string().optional() });

/** The customer reads one message, or all that were sent and not read. */
export function markRead({ world, params, body }: ControlRequest): object {
  const { message_id } = parse(ReadInput, body);
  const customer = requireCustomer(world, params.key ?? "");
  const unread = [...world.store.sent.values()].filter(
    (message) =>
      message.user_id === customer.user_id &&
      (message_id === undefined || message.id === message_id) &&
      hasStatus(message, "sent") &&
      !hasStatus(message, "read") &&
      !hasStatus(message, "failed"),
  );
  for (const message of unread) {
    reportStatus(world, message, { status: "read" });
  }
  return { read: unread.map(({ id }) => id) };
}

const MarketingInput = z.strictObject({
  value: z.enum(["stop", "resume"]),
  phone_number_id: z.string().optional(),
});

/** The customer stops or resumes the marketing of a number; templates of marketing then fail. */
export function chooseMarketing({ world, params, body }: ControlRequest): object {
  const { value, phone_number_id } = parse(MarketingInput, body);
  const customer = requireCustomer(world, params.key ?? "");
  const phone = requirePhone(world, phone_number_id);
  threadOf(customer, phone.id).has_stopped_marketing = value === "stop";
  const ids = {
    ...(customer.number === null || customer.hides_number ? {} : { wa_id: customer.number }),
    user_id: customer.user_id,
  };
  const preference = {
    ...ids,
    detail: `User requested to ${value} marketing messages`,
    category: "marketing_messages",
    value,
    timestamp: Math.floor(world.clock.now() / 1000),
  };
  const change = {
    messaging_product: "whatsapp",
    metadata: { display_phone_number: phone.number, phone_number_id: phone.id },
    contacts: [{ profile: { name: customer.name }, ...ids }],
    user_preferences: [preference],
  };
  world.webhooks.emit([{ account_id: phone.account_id, field: "user_preferences", value: change }]);
  return { user_id: customer.user_id, value };
}

const NumberInput = z.strictObject({ number });

/**
 * The customer gets another number, and with it another user id. Each number that knows
 * the customer learns it.
 */
export function changeNumber({ world, params, body }: ControlRequest): object {
  const next = parse(NumberInput, body);
  const customer = requireCustomer(world, params.key ?? "");
  if (customer.number === null) {
    throw new ControlError("This customer has no number.");
  }
  const owner = findCustomer(world.store, next.number);
  if (owner) {
    const who = owner === customer ? "The customer" : "Another customer";
    throw new ControlError(`number: ${who} has this number already.`, 409);
  }
  const { number: previous, user_id, name, threads } = customer;
  const moved = moveCustomer(world.store, customer, next.number);
  for (const [phoneId, thread] of threads) {
    const phone = findNode(world.store, "phone", phoneId);
    Object.assign(threadOf(moved, phoneId), thread);
    if (phone) {
      const system = {
        body: `User ${name} changed from ${previous} to ${next.number}`,
        wa_id: next.number,
        type: "user_changed_number",
        user_id: moved.user_id,
        previous_user_id: user_id,
      };
      const message = {
        from: previous,
        from_user_id: user_id,
        id: newMessageId(previous),
        timestamp: toUnixSeconds(world.clock.now()),
        type: "system",
        system,
      };
      // Unlike other messages, messages of the system come without contacts.
      emitMessagesChange(world, phone, { messages: [message] });
    }
  }
  return { number: moved.number, user_id: moved.user_id, previous_user_id: user_id };
}
