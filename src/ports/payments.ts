/**
 * The port to the payment processor, which takes the money of wallet top-ups. Called outside any transaction.
 *
 * An order asks for an amount; a person pays it in the processor's checkout, which makes payments of the
 * order, one for each attempt. A payment is created, then authorized or failed, then captured: only then the
 * money is ours. A failed payment may be authorized later. A captured one may be refunded in parts.
 *
 * Amounts are in the smallest unit of the currency. If a function throws, the processor could not be asked or
 * its answer was lost: whether the call had an effect is not known.
 */
import type { PaymentStatus } from "../../tools/payments.ts";

export interface NewOrder {
  readonly organization_id: string;
  /** Ours, at most 40 characters: the order is found by it. */
  readonly receipt: string;
  readonly amount: number;
  readonly currency: string;
  /** A call with this receipt has been made before. */
  readonly isRepeated: boolean;
}

export type OrderResult =
  | { readonly outcome: "created"; readonly order_id: string }
  /** The processor does not take the order; `reason` may be shown to the caller. */
  | { readonly outcome: "refused"; readonly reason: string };

export interface ProcessorPayment {
  readonly id: string;
  /** Null: it is of no order. */
  readonly order_id: string | null;
  readonly amount: number;
  readonly currency: string;
  readonly status: PaymentStatus;
  /** Whether the money was ever taken; a payment may also be refunded without. */
  readonly is_captured: boolean;
  readonly amount_refunded: number;
  readonly created_at: Date;
}

/** What identifies a payment of an organization's order. */
export interface PaymentKey {
  readonly organization_id: string;
  readonly payment_id: string;
}

/** A request of the processor to the webhook, byte for byte. Header names are in lower case. */
export interface WebhookRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/**
 * What a webhook says: only a hint to read the payment again, since events may be late,
 * repeated or out of order.
 */
export interface PaymentEvent {
  readonly id: string;
  readonly type: string;
  readonly order_id: string | null;
  readonly payment_id: string | null;
}

export interface PaymentProcessor {
  /** Stored with each order: only the processor that has an order is asked about it. */
  readonly name: string;
  /** Whether no money moves. */
  readonly isSimulated: boolean;
  /** Public: checkout needs it. */
  readonly keyId: string;
  /** The least that an order may ask for. */
  minimumOf(currency: string): number;
  /** Creates the order, or finds the one with this receipt. */
  createOrder(order: NewOrder, signal: AbortSignal): Promise<OrderResult>;
  /** Undefined if there is no such payment. */
  findPayment(key: PaymentKey, signal: AbortSignal): Promise<ProcessorPayment | undefined>;
  /** Every payment of an order. */
  listPayments(
    order: { readonly organization_id: string; readonly order_id: string },
    signal: AbortSignal,
  ): Promise<readonly ProcessorPayment[]>;
  /**
   * Takes the money of an authorized payment, if that has not happened yet, and returns the
   * payment as it is then.
   */
  capture(
    payment: PaymentKey & { readonly amount: number; readonly currency: string },
    signal: AbortSignal,
  ): Promise<ProcessorPayment>;
  /** Returns an amount to the payer. The refunds of a payment never exceed its amount. */
  refund(
    payment: PaymentKey & { readonly amount: number; readonly receipt: string },
    signal: AbortSignal,
  ): Promise<void>;
  /** Whether checkout signed this payment of this order. */
  isSignedByCheckout(checkout: {
    readonly order_id: string;
    readonly payment_id: string;
    readonly signature: string;
  }): boolean;
  /**
   * `forged` if the signature is not the processor's; undefined if the event says nothing about a payment.
   */
  readWebhook(request: WebhookRequest): PaymentEvent | "forged" | undefined;
}

/** The functions that a processor calls. */
export interface PaymentCallbacks {
  /** Takes what the processor would send to the webhook. */
  onPaymentWebhook(request: WebhookRequest): Promise<void>;
}
