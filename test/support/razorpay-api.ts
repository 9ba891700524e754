/** The operations of the Razorpay emulator, and what they refuse. */
import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";

export interface StoredOrder {
  readonly id: string;
  readonly entity: "order";
  readonly amount: number;
  readonly currency: string;
  readonly receipt: string | null;
  readonly notes: Readonly<Record<string, string>>;
  readonly status: string;
}

export interface StoredPayment {
  readonly id: string;
  readonly entity: "payment";
  readonly order_id: string;
  readonly amount: number;
  readonly currency: string;
  status: "created" | "authorized" | "captured" | "refunded" | "failed";
  captured: boolean;
  amount_refunded: number;
  readonly email: string;
  readonly contact: string;
  readonly method: string;
  readonly created_at: number;
}

export interface Store {
  readonly orders: Map<string, StoredOrder>;
  readonly payments: Map<string, StoredPayment>;
  readonly refunds: { readonly payment_id: string; readonly amount: number }[];
  /** Where accounts do not know the field, two orders may have one receipt. */
  readonly knowsUniqueReceipt: boolean;
}

export interface Answer {
  readonly status: number;
  readonly body: object;
}

export function refuse(description: string): Answer {
  return { status: 400, body: { error: { code: "BAD_REQUEST_ERROR", description } } };
}

const accept = (body: object): Answer => ({ status: 200, body });
const collect = (items: readonly object[]) => accept({ entity: "collection", count: items.length, items });
const unknownId = refuse("The id provided does not exist");

type Fields = Readonly<Record<string, unknown>>;
type Operation = (
  store: Store,
  request: { readonly id: string; readonly url: URL; readonly body: Fields },
) => Answer;

const operations: readonly (readonly [method: string, path: RegExp, Operation])[] = [
  ["POST", /^\/v1\/orders$/, createOrder],
  ["GET", /^\/v1\/orders$/, listOrders],
  ["GET", /^\/v1\/orders\/(\w+)\/payments$/, listPayments],
  ["GET", /^\/v1\/payments\/(\w+)$/, getPayment],
  ["POST", /^\/v1\/payments\/(\w+)\/capture$/, capture],
  ["POST", /^\/v1\/payments\/(\w+)\/refund$/, refund],
];

export function handle(store: Store, request: IncomingMessage, text: string): Answer {
  const url = new URL(request.url ?? "", "http://x");
  for (const [method, path, operation] of operations) {
    const match = path.exec(url.pathname);
    if (request.method === method && match) {
      if (method === "POST" && request.headers["content-type"] !== "application/json") {
        return refuse("The content type is not supported");
      }
      const body = text === "" ? {} : (JSON.parse(text) as Fields);
      return operation(store, { id: match[1] ?? "", url, body });
    }
  }
  return { ...refuse("The requested URL was not found on the server."), status: 404 };
}

function createOrder(store: Store, { body }: { readonly body: Fields }): Answer {
  const { amount, currency, receipt = null, notes = {}, unique_receipt } = body;
  const known = ["amount", "currency", "receipt", "notes", "partial_payment"];
  const extra = Object.keys(body).filter(
    (name) => !known.includes(name) && !(name === "unique_receipt" && store.knowsUniqueReceipt),
  );
  if (extra.length > 0) {
    return refuse(`${extra.join(", ")} is/are not required and should not be sent`);
  }
  if (typeof amount !== "number" || !Number.isInteger(amount)) {
    return refuse("The amount must be an integer.");
  }
  if (typeof currency !== "string" || !/^[A-Z]{3}$/.test(currency)) {
    return refuse("The currency is not supported.");
  }
  if (amount < (currency === "INR" ? 100 : 1)) {
    return refuse("Order amount less than minimum amount allowed");
  }
  if (amount > 50_000_000) {
    return refuse("Amount exceeds maximum amount allowed.");
  }
  if (receipt !== null && (typeof receipt !== "string" || receipt.length > 40)) {
    return refuse("The receipt may not be greater than 40 characters.");
  }
  if (!isNotes(notes)) {
    return refuse("Number of fields in notes should be less than or equal to 15");
  }
  const existing = [...store.orders.values()].find((order) => order.receipt === receipt);
  if (unique_receipt === true && existing) {
    return accept(existing);
  }
  const id = `order_${randomBytes(7).toString("hex")}`;
  const order = { id, entity: "order", amount, currency, receipt, notes, status: "created" } as const;
  store.orders.set(id, order);
  return accept(order);
}

function isNotes(notes: unknown): notes is Readonly<Record<string, string>> {
  const values = typeof notes === "object" && notes !== null ? Object.values(notes) : [0];
  return values.length <= 15 && values.every((value) => typeof value === "string" && value.length <= 256);
}

function listOrders(store: Store, { url }: { readonly url: URL }): Answer {
  const receipt = url.searchParams.get("receipt");
  return collect([...store.orders.values()].filter((order) => receipt === null || order.receipt === receipt));
}

function listPayments(store: Store, { id }: { readonly id: string }): Answer {
  return store.orders.has(id)
    ? collect([...store.payments.values()].filter(({ order_id }) => order_id === id))
    : unknownId;
}

function getPayment({ payments }: Store, { id }: { readonly id: string }): Answer {
  const payment = payments.get(id);
  return payment ? accept(payment) : unknownId;
}

function capture({ payments }: Store, { id, body }: { readonly id: string; readonly body: Fields }): Answer {
  const payment = payments.get(id);
  if (!payment) {
    return unknownId;
  }
  if (payment.captured) {
    return refuse("This payment has already been captured");
  }
  if (payment.status !== "authorized") {
    return refuse("Only payments which have been authorized and not yet captured can be captured");
  }
  if (body.amount !== payment.amount || body.currency !== payment.currency) {
    return refuse("Capture amount must be equal to the amount authorized");
  }
  Object.assign(payment, { status: "captured", captured: true });
  return accept(payment);
}

function refund(store: Store, { id, body }: { readonly id: string; readonly body: Fields }): Answer {
  const payment = store.payments.get(id);
  if (!payment) {
    return unknownId;
  }
  if (payment.status === "refunded") {
    return refuse("The payment has been fully refunded already");
  }
  if (!payment.captured) {
    return refuse("The payment status should be captured for action to be taken");
  }
  const amount = typeof body.amount === "number" ? body.amount : payment.amount - payment.amount_refunded;
  if (payment.amount_refunded + amount > payment.amount) {
    return refuse("The total refund amount is greater than the refund payment amount");
  }
  payment.amount_refunded += amount;
  payment.status = payment.amount_refunded === payment.amount ? "refunded" : "captured";
  store.refunds.push({ payment_id: id, amount });
  return accept({ id: `rfnd_${randomBytes(7).toString("hex")}`, entity: "refund", payment_id: id, amount });
}
