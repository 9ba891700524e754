/** The tables of payments. Amounts are in the smallest unit of the currency. */
import type { Generated } from "kysely";

export interface PaymentTables {
  payment_orders: {
    organization_id: string;
    /** Also the receipt by which the processor finds the order. */
    id: string;
    processor: string;
    /** Null until the processor has answered. */
    processor_order_id: string | null;
    amount: number;
    currency: string;
    /** creating: being created at the processor; unconfirmed: its answer was lost; then open, and paid. */
    status: "creating" | "unconfirmed" | "open" | "paid";
    /** The payment that was credited. */
    paid_by: string | null;
    paid_at: string | null;
    /** When its payments are read again; null: no more. */
    next_check_at: string | null;
    created_at: string;
    updated_at: string;
  };
  payments: {
    organization_id: string;
    id: string;
    order_id: string;
    processor_order_id: string;
    processor_payment_id: string;
    amount: number;
    currency: string;
    status: "created" | "failed" | "authorized" | "captured" | "refunded";
    is_captured: boolean;
    amount_refunded: number;
    /**
     * What its capture led to: credited to the wallet; surplus, since the order was paid, so it is returned to the payer;
     * mismatched, of another amount or currency than the order. Null: none yet.
     */
    disposition: "credited" | "surplus" | "mismatched" | null;
    /** Of a credited payment: how much of its refunds was taken from the wallet. */
    amount_debited: Generated<number>;
    created_at: string;
    updated_at: string;
  };
  payment_events: {
    organization_id: string;
    /** The processor's. */
    event_id: string;
    received_at: string;
  };
}
