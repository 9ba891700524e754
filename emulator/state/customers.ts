/**
 * The people on the other side: their number, business-scoped user id, username, and what
 * they have with a number.
 */
import { userIdOf } from "./ids.ts";

export interface CustomerIndex {
  /** By business-scoped user id. */
  readonly customers: Map<string, Customer>;
  /** Business-scoped user ids by number. */
  readonly customerIds: Map<string, string>;
}

export interface Customer {
  /** The business-scoped user id. */
  readonly user_id: string;
  /** Digits; null for a customer whose number was never given. */
  readonly number: string | null;
  name: string;
  username: string | null;
  /** Webhooks do not have the number. */
  hides_number: boolean;
  /** By the id of the business's number. */
  readonly threads: Map<string, Thread>;
}

/** What a customer and a number of the business have with each other. */
export interface Thread {
  /** Until when free text may be sent. */
  window_ends_at: number;
  /** Until when messages cost nothing, because the customer came from an ad. */
  free_entry_ends_at: number;
  /** The messages sent in quick succession, which borrow from the time after them. */
  burst: { readonly started_at: number; count: number };
  typing_ends_at: number;
  /** The customer wants no marketing of this number. */
  has_stopped_marketing: boolean;
}

export function threadOf(customer: Customer, phoneId: string): Thread {
  const thread = customer.threads.get(phoneId) ?? {
    window_ends_at: 0,
    free_entry_ends_at: 0,
    typing_ends_at: 0,
    has_stopped_marketing: false,
    burst: { started_at: 0, count: 0 },
  };
  customer.threads.set(phoneId, thread);
  return thread;
}

export interface CustomerInput {
  readonly number?: string | undefined;
  readonly user_id?: string | undefined;
  readonly name?: string | undefined;
  readonly username?: string | undefined;
  readonly hides_number?: boolean | undefined;
}

/** Finds the customer by user id, then by number, and creates the one that does not exist. */
export function ensureCustomer(store: CustomerIndex, input: CustomerInput): Customer {
  const { number, name, username, hides_number } = input;
  const userId = input.user_id ?? (number && store.customerIds.get(number)) ?? userIdOf(number ?? "");
  const existing = store.customers.get(userId);
  const customer: Customer = existing ?? {
    user_id: userId,
    number: number ?? null,
    name: number ?? userId,
    username: null,
    hides_number: false,
    threads: new Map(),
  };
  customer.name = name ?? customer.name;
  customer.username = username ?? customer.username;
  customer.hides_number = hides_number ?? customer.hides_number;
  store.customers.set(userId, customer);
  if (customer.number !== null) {
    store.customerIds.set(customer.number, userId);
  }
  return customer;
}

export function findCustomer(store: CustomerIndex, key: string): Customer | undefined {
  return store.customers.get(key) ?? store.customers.get(store.customerIds.get(key) ?? "");
}

/** A new number gives a customer a new user id; the name stays. @returns the customer as of now */
export function moveCustomer(store: CustomerIndex, customer: Customer, number: string): Customer {
  store.customers.delete(customer.user_id);
  store.customerIds.delete(customer.number ?? "");
  const { name, username, hides_number } = customer;
  return ensureCustomer(store, { number, name, username: username ?? undefined, hides_number });
}
