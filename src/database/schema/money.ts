/** Columns of prices, the wallet and its ledger, payments, plans and add-ons. */

export type EntryAccount = "wallet" | "held" | "spent" | "top_ups" | "adjustments";

/** What a message is charged. */
export type MessageCharge = {
  /** held: until it is delivered; settled: it was paid; released: it costs nothing, unless it is delivered yet. */
  readonly status: "held" | "settled" | "released";
  readonly currency: string;
  /** Of the recipient's number; null: none is known. */
  readonly country: string | null;
  /** The estimate's or, once the channel has named it, the channel's. */
  readonly category: string;
  /** What it costs if it is delivered. */
  readonly price: number;
  /** What is held for it now. */
  readonly held: number;
  /** Whether simulated money pays it; absent, of an earlier version: it does not. */
  readonly simulated?: boolean;
};

/** What the channel says that a message is charged as. */
export type ChannelPricing = {
  readonly category: string | null;
  readonly is_free: boolean;
};

export interface MoneyColumns {
  /** The service's, not an organization's. */
  message_rates: {
    /** ISO 3166, or "other". */
    country: string;
    /** In millionths of the currency, as the other rates. */
    marketing: number;
  };
  /** Amounts are in millionths of the currency's unit. */
  ledger_entries: {
    type:
      | "hold"
      | "charge"
      | "release"
      | "correction"
      | "usage"
      | "fee"
      | "top_up"
      | "refund"
      | "adjustment"
      | "split";
    from_account: EntryAccount;
    to_account: EntryAccount;
  };
  /** A balance is the sum of its parts, in millionths of the currency's unit. */
  ledger_balances: {
    part: number;
  };
  wallet_adjustments: {
    /** In millionths of the currency's unit. */
    amount: number;
  };
  wallet_states: {
    /** Null: what is available is not below the threshold. */
    low_since: string;
    /** As low_since, of the simulated money. */
    simulated_low_since: string;
  };
  /** Amounts are in the smallest unit of the currency. */
  payment_orders: {
    /** Also the receipt by which the processor finds the order. */
    id: string;
    /** Null until the processor has answered. */
    processor_order_id: string;
    /** creating: being created at the processor; unconfirmed: its answer was lost; then open, and paid. */
    status: "creating" | "unconfirmed" | "open" | "paid";
    /** The payment that was credited. */
    paid_by: string;
    /** When its payments are read again; null: no more. */
    next_check_at: string;
  };
  /** Amounts are in the smallest unit of the currency. */
  payments: {
    status: "created" | "failed" | "authorized" | "captured" | "refunded";
    /**
     * What its capture led to: credited to the wallet; surplus, since the order was paid, so it is returned to the payer;
     * mismatched, of another amount or currency than the order. Null: none yet.
     */
    disposition: "credited" | "surplus" | "mismatched";
    /** Of a credited payment: how much of its refunds was taken from the wallet. */
    amount_debited: number;
  };
  payment_events: {
    /** The processor's. */
    event_id: string;
  };
  subscriptions: {
    plan_type: "starter" | "growth" | "scale" | "enterprise";
    status: "trialing" | "active" | "cancelled";
    billing_cycle: "monthly" | "annual";
  };
  /** Amounts are in millionths of the currency's unit. */
  chatbot_addons: {
    status: "trialing" | "active" | "grace" | "suspended" | "cancelled";
    billing_unit: "per_message" | "per_session";
    /** Null: the trial lasts. */
    first_fee_period: number;
    /** -1: none yet. */
    fee_charged_through: number;
    /** Null: it is cancelled. */
    next_billing_date: string;
    /** Null: the wallet has paid everything. */
    grace_ends_at: string;
    /** Null: it is not cancelled. */
    ends_at: string;
  };
  chatbot_minimum_prices: {
    /** In millionths of the currency's unit, as the other price. */
    per_message: number;
  };
}
