/** The tables of the wallet and its ledger. Amounts are in millionths of the currency's unit. */
import type { Generated } from "kysely";

type Account = "wallet" | "held" | "spent" | "top_ups" | "adjustments";

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

export interface WalletTables {
  ledger_entries: {
    organization_id: string;
    id: string;
    reference: string;
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
    from_account: Account;
    to_account: Account;
    amount: number;
    currency: string;
    message_id: string | null;
    simulated: boolean;
    created_at: string;
  };
  ledger_balances: { organization_id: string; simulated: boolean; part: number } & Record<Account, number>;
  wallet_adjustments: {
    organization_id: string;
    id: string;
    amount: number;
    reason: string;
    simulated: Generated<boolean>;
    created_at: string;
  };
  wallet_states: {
    organization_id: string;
    /** Null: what is available is not below the threshold. */
    low_since: string | null;
    /** As low_since, of the simulated money. */
    simulated_low_since: string | null;
  };
  released_charges: {
    organization_id: string;
    through_message_id: string;
  };
}
