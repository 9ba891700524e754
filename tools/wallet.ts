/** The wallet: an organization's prepaid balance. The movements are in ledger.ts. */
import { z } from "zod";
import { type ErrorEntry, errorEntry, one, operation, paged, paging, timestamp } from "./contract/index.ts";
import { money } from "./money.ts";

/**
 * off: no payment is rejected; block: payments that would take the wallet below zero are rejected;
 * credit_limit: payments that would take it below the organization's limit are rejected.
 */
export const walletModes = ["off", "block", "credit_limit"] as const;
export type WalletMode = (typeof walletModes)[number];

/** Money comes from top_ups and adjustments, and goes to spent. */
export const ledgerAccounts = ["wallet", "held", "spent", "top_ups", "adjustments"] as const;
export type LedgerAccount = (typeof ledgerAccounts)[number];

export const ledgerEntryTypes = [
  "hold",
  "charge",
  "release",
  "correction",
  "usage",
  "fee",
  "top_up",
  "refund",
  "adjustment",
  "split",
] as const;
export type LedgerEntryType = (typeof ledgerEntryTypes)[number];

const Balances = z.object({
  /** What was paid in and not spent, including what is held. */
  balance: z.number(),
  /** Reserved for messages that were accepted but not delivered yet. */
  held: z.number(),
  /** What can be spent: the balance minus what is held, plus the credit limit. */
  available: z.number(),
  spent: z.number(),
  /** Whether less than the threshold is available. */
  is_low: z.boolean(),
});

/** The real money, and beside it the simulated money. */
export const Wallet = Balances.extend({
  currency: z.string(),
  mode: z.enum(walletModes),
  /** 0 unless the mode is credit_limit. */
  credit_limit: z.number(),
  low_balance_threshold: z.number().nullable(),
  /** The money that simulated payments paid in and simulated inboxes spent. */
  simulated: Balances,
});

export const wallet = {
  get_wallet: operation({
    method: "GET",
    path: "/v1/billing/wallet",
    scope: "tokens:read",
    tier: "lean",
    title: "Get wallet",
    description:
      "Get the prepaid balance, what is held for messages on their way, and what is available. With mode off, nothing is rejected for lack of money. list_ledger_entries shows what moved it.",
    input: z.object({}),
    output: one(Wallet),
  }),
};

export const walletEvents = {
  "wallet.low_balance": {
    scope: "tokens:read",
    data: Wallet.pick({ currency: true, balance: true, held: true, available: true, mode: true }).extend({
      threshold: z.number(),
      /** Whether the amount is simulated money. */
      simulated: z.boolean(),
    }),
  },
} as const;

const organizationId = z.string().min(1).max(64).describe("Organization id, from list_organizations");

const Adjustment = z.object({
  id: z.string(),
  amount: z.number(),
  reason: z.string(),
  /** Whether the adjustment changes simulated money. */
  simulated: z.boolean(),
  created_at: timestamp,
});

/** The operator's actions on a wallet. */
export const operatorWallet = {
  find_wallet: operation({
    method: "GET",
    path: "/operator/v1/organizations/{id}/wallet",
    credential: "operator",
    scope: null,
    title: "Find wallet",
    description: "Get the wallet of an organization.",
    input: z.object({ id: organizationId }),
    output: one(Wallet),
    tools: {},
  }),

  adjust_wallet: operation({
    method: "POST",
    path: "/operator/v1/organizations/{id}/wallet/adjustments",
    credential: "operator",
    scope: null,
    title: "Adjust wallet",
    description:
      "Add money to the wallet of an organization, or take it out with a negative amount. The organization sees the amount and the reason.",
    input: z.object({
      id: organizationId,
      amount: money
        .refine((amount) => amount !== 0, "Send an amount other than 0.")
        .describe("In the organization's currency; negative to take money out"),
      reason: z.string().trim().min(1).max(1000).describe("Why; shown to the organization"),
      simulated: z
        .boolean()
        .default(false)
        .describe("true: simulated money, which only simulated inboxes spend"),
    }),
    output: one(z.object({ adjustment: Adjustment, wallet: Wallet })),
    status: 201,
    tools: {},
  }),

  list_adjustments: operation({
    method: "GET",
    path: "/operator/v1/organizations/{id}/wallet/adjustments",
    credential: "operator",
    scope: null,
    title: "List adjustments",
    description: "List the adjustments of an organization's wallet, newest first.",
    input: z.object({ id: organizationId, ...paging(25) }),
    output: paged(Adjustment),
    tools: {},
  }),

  update_credit_limit: operation({
    method: "PUT",
    path: "/operator/v1/organizations/{id}/wallet/credit-limit",
    credential: "operator",
    scope: null,
    title: "Update credit limit",
    description:
      "Set how far below zero the available balance of one organization may fall while TIDINGS_WALLET is credit_limit. null applies the setting TIDINGS_CREDIT_LIMIT again.",
    input: z.object({
      id: organizationId,
      credit_limit: money.min(0).nullable().describe("In the organization's currency"),
    }),
    output: one(Wallet),
    tools: {},
  }),
};

export const walletErrors = {
  insufficient_funds: errorEntry(
    "payment_required",
    402,
    "{required} {currency} is needed, and {available} {currency} is available.",
    "Top up the wallet. create_payment_order (POST /v1/billing/payments/orders) makes an order that a person pays. An order that is simulated pays for simulated inboxes alone. get_wallet (GET /v1/billing/wallet) shows what is available. execute_broadcast takes allow_partial.",
  ),
  price_unknown: errorEntry(
    "business_rule",
    422,
    "There is no price for messages in {currency}, and the wallet must pay for them.",
    "Ask the operator of this service to set message prices in {currency}.",
  ),
  currency_fixed: errorEntry(
    "conflict",
    409,
    "The currency can't change any more: there are ledger entries, payment orders or an add-on in {currency}.",
    "Keep the currency, or create another organization with the other currency.",
  ),
} as const satisfies Record<string, ErrorEntry>;
