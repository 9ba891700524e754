/** To whom a message goes. */
import { GraphError, invalidParameter } from "../contract/graph-error.ts";
import type { Fields } from "../contract/validate.ts";
import { type Customer, ensureCustomer } from "../state/customers.ts";
import { toDigits, userIdPattern } from "../state/ids.ts";
import type { Phone } from "../state/store.ts";
import type { World } from "../world.ts";

export interface Recipient {
  /** As the request has it. */
  readonly input: string;
  /** null: the message is accepted and lost. */
  readonly customer: Customer | null;
  /** The number, if the request was addressed by it. */
  readonly number: string | null;
}

/**
 * `to` wins over `recipient`. A business-scoped user id in `to` is accepted, and the message
 * is lost, as at Meta.
 */
export function findRecipient({ store }: World, phone: Phone, { to, recipient }: Fields): Recipient {
  if (typeof to !== "string") {
    // The schema has checked that one of the two exists.
    const input = String(recipient);
    return { input, customer: ensureCustomer(store, { user_id: input }), number: null };
  }
  if (userIdPattern.test(to)) {
    return { input: to, customer: null, number: null };
  }
  const number = toDigits(to);
  if (number === undefined) {
    throw invalidParameter("Param to must be a valid WhatsApp number.");
  }
  if (number === phone.number) {
    throw new GraphError(131021, "Sender and recipient phone number is the same");
  }
  return { input: to, customer: ensureCustomer(store, { number }), number };
}
