/** Columns of prices, the wallet and its ledger, payments, plans and add-ons. */

export type EntryAccount = "wallet" | "held" | "spent" | "top_ups" | "adjustments";

/** The charge for a message. */
export type MessageCharge = {
  /**
   * held: until the message is delivered; settled: the message was paid; released: the message costs nothing,
   * unless it is delivered later.
   */
  readonly status: "held" | "settled" | "released";
  readonly currency: string;
  /** The country of the recipient's number; null if unknown. */
  readonly country: string | null;
  /** The category of the estimate or, once the channel has reported its category, the channel's. */
  readonly category: string;
  /** The cost of the message if it is delivered. */
  readonly price: number;
  /** What is held for the message now. */
  readonly held: number;
  /**
   * Whether simulated money pays the message. Absent in charges of an earlier version, which real money pays.
   */
  readonly simulated?: boolean;
};

/** The channel's own category and price of a message. */
export type ChannelPricing = {
  readonly category: string | null;
  readonly is_free: boolean;
};

export interface MoneyColumns {
  /** A table of the service, without an organization. */
  message_rates: {
    /** ISO 3166, or "other". */
    country: string;
    /** In millionths of the currency, like the other rates. */
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
    /** Null if the available amount is not below the threshold. */
    low_since: string;
    /** Like low_since, for simulated money. */
    simulated_low_since: string;
  };
  /** Amounts are in the smallest unit of the currency. */
  payment_orders: {
    /** Also the receipt by which the processor finds the order. */
    id: string;
    /** Null until the processor has answered. */
    processor_order_id: string;
    /**
     * creating: is being created at the processor; unconfirmed: the processor's response was lost; then open,
     * and paid.
     */
    status: "creating" | "unconfirmed" | "open" | "paid";
    /** The payment that was credited for the order. */
    paid_by: string;
    /** When the payments of the order are read again; null: never. */
    next_check_at: string;
  };
  /** Amounts are in the smallest unit of the currency. */
  payments: {
    status: "created" | "failed" | "authorized" | "captured" | "refunded";
    /**
     * What happened to the captured amount: credited to the wallet; surplus: returned to the payer, because
     * the order was already paid; mismatched: its amount or currency differs from the order's. Null before
     * the capture.
     */
    disposition: "credited" | "surplus" | "mismatched";
    /** For a credited payment: how much of its refunds was debited from the wallet. */
    amount_debited: number;
  };
  payment_events: {
    /** The processor's id of the event. */
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
    /** Null during the trial. */
    first_fee_period: number;
    /** -1 before the first fee. */
    fee_charged_through: number;
    /** Null if the add-on is cancelled. */
    next_billing_date: string;
    /** Null if the wallet owes nothing. */
    grace_ends_at: string;
    /** Null if the add-on is not cancelled. */
    ends_at: string;
  };
  chatbot_minimum_prices: {
    /** In millionths of the currency's unit, like the other price. */
    per_message: number;
  };
}
