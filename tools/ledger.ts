/** The ledger: every movement of the wallet with its cause, and what was spent. */
import { z } from "zod";
import { type ErrorEntry, errorEntry, one, operation, paged, paging, timestamp } from "./contract/index.ts";
import { ledgerAccounts, ledgerEntryTypes } from "./wallet.ts";

const LedgerEntry = z.object({
  id: z.string(),
  type: z.enum(ledgerEntryTypes),
  amount: z.number(),
  currency: z.string(),
  from_account: z.enum(ledgerAccounts),
  to_account: z.enum(ledgerAccounts),
  /** Whether the entry moves simulated money. */
  simulated: z.boolean(),
  /** The causes, if there are any: the ids of a message, or of an answer of the chatbot that is a message. */
  message_id: z.string().nullable(),
  conversation_id: z.string().nullable(),
  broadcast_id: z.string().nullable(),
  /** For a top-up or a refund: the ids as in list_payments, and as create_payment_order returned them. */
  payment_id: z.string().nullable(),
  order_id: z.string().nullable(),
  /** For a fee: the chatbot add-on. */
  addon_id: z.string().nullable(),
  /** For a usage: the answer that was counted. */
  unit_id: z.string().nullable(),
  /** For an adjustment. */
  reason: z.string().nullable(),
  created_at: timestamp,
});

/** usage and fee belong to the chatbot add-on. */
export const spendKinds = ["message", "broadcast", "usage", "fee"] as const;

export const spendGroups = ["day", "kind", "category", "country"] as const;
export type SpendGroup = (typeof spendGroups)[number];

/** The longest period of one request, in days. */
export const maxSpendDays = 92;

const Spend = z.object({
  /** In UTC, such as 2026-11-30. */
  day: z.string().nullable(),
  kind: z.enum(spendKinds).nullable(),
  /** Only for messages. Like the other columns, null if the result is not grouped by it. */
  category: z.string().nullable(),
  country: z.string().nullable(),
  /** The number of messages, units or fees. */
  count: z.int(),
  amount: z.number(),
});

const day = z
  .string()
  .max(10)
  .refine((text) => z.iso.date().safeParse(text).success, "Send a date like 2026-11-30.");

export const ledger = {
  list_ledger_entries: operation({
    method: "GET",
    path: "/v1/billing/ledger",
    scope: "tokens:read",
    title: "List ledger entries",
    description:
      "List what moved money between the accounts of the wallet, newest first, each with its cause: holds, charges, releases, top-ups, refunds and adjustments.",
    input: z.object({
      type: z.enum(ledgerEntryTypes).optional().describe("Only this type"),
      message_id: z.string().min(1).max(64).optional().describe("Only entries of this message"),
      broadcast_id: z.string().min(1).max(64).optional().describe("Only of this broadcast and its messages"),
      ...paging(25),
    }),
    output: paged(LedgerEntry),
    tier: "extended",
  }),

  get_spend: operation({
    method: "GET",
    path: "/v1/billing/spend",
    scope: "tokens:read",
    title: "Get spend",
    description:
      "Get what was charged in a period by day, kind, category and country, or by one of them. list_ledger_entries shows the entries.",
    input: z.object({
      from: day.optional().describe("First day (UTC); default 29 days before to"),
      to: day.optional().describe("Last day; default today"),
      by: z.enum(spendGroups).optional().describe("Group by this alone"),
      simulated: z.boolean().default(false).describe("true: simulated money"),
    }),
    output: one(
      z.object({
        currency: z.string(),
        from: z.string(),
        to: z.string(),
        simulated: z.boolean(),
        total: z.number(),
        /** What was charged in the period in the other money: simulated if simulated is false. */
        other_total: z.number(),
        spend: z.array(Spend),
      }),
    ),
    tier: "extended",
  }),
};

export const ledgerErrors = {
  period_invalid: errorEntry(
    "invalid_request",
    400,
    "The period is {reason}.",
    `Send from and to as dates, at most ${maxSpendDays} days that end with to.`,
  ),
} as const satisfies Record<string, ErrorEntry>;
