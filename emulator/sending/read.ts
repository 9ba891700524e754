/** The read receipt that the business sends, optionally with a typing indicator. */
import { GraphError } from "../contract/graph-error.ts";
import type { Fields } from "../contract/validate.ts";
import { type Answer, json } from "../http/answer.ts";
import { threadOf } from "../state/customers.ts";
import type { Phone } from "../state/store.ts";
import type { World } from "../world.ts";

/** The indicator disappears after this time, or with the next message. */
const typingMs = 25_000;

/** Marks the customer's message as read, and all before it. */
export function markInboundRead({ clock, store }: World, phone: Phone, body: Fields): Answer {
  const message = store.inbound.get(String(body.message_id));
  if (message?.phone_number_id !== phone.id) {
    throw new GraphError(131009, "Message id does not exist, or is not of a message to this phone number");
  }
  const now = clock.now();
  for (const other of store.inbound.values()) {
    const isEarlier = other.received_at <= message.received_at;
    if (other.user_id === message.user_id && other.phone_number_id === phone.id && isEarlier) {
      other.read_at ??= now;
    }
  }
  const customer = store.customers.get(message.user_id);
  if (customer && body.typing_indicator !== undefined) {
    threadOf(customer, phone.id).typing_ends_at = now + typingMs;
  }
  return json({ success: true });
}
