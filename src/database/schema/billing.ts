/** The tables of plans and add-ons. Amounts are in millionths of the currency's unit. */

export interface BillingTables {
  subscriptions: {
    organization_id: string;
    id: string;
    plan_type: "starter" | "growth" | "scale" | "enterprise";
    status: "trialing" | "active" | "cancelled";
    billing_cycle: "monthly" | "annual";
    cancel_at_period_end: boolean;
    anchor_at: string;
    period: number;
    current_period_end: string;
  };
  chatbot_addons: {
    organization_id: string;
    id: string;
    status: "trialing" | "active" | "grace" | "suspended" | "cancelled";
    billing_unit: "per_message" | "per_session";
    currency: string;
    cost_per_unit: number;
    monthly_fee: number;
    trial_units_remaining: number;
    activated_at: string;
    period: number;
    /** Null: the trial lasts. */
    first_fee_period: number | null;
    /** -1: none yet. */
    fee_charged_through: number;
    /** Null: it is cancelled. */
    next_billing_date: string | null;
    /** Null: the wallet has paid everything. */
    grace_ends_at: string | null;
    /** Null: it is not cancelled. */
    ends_at: string | null;
  };
  chatbot_units: {
    organization_id: string;
    answer_id: string;
    addon_id: string;
    conversation_id: string;
    counted_at: string;
  };
  chatbot_minimum_prices: {
    currency: string;
    per_message: number;
    per_session: number;
  };
}
