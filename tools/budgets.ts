/** Budgets: how many messages, new contacts and how much money may be used in a day and in a month. */
import { z } from "zod";
import { timestamp } from "./contract/index.ts";
import { money } from "./money.ts";

export const budgetKinds = ["messages", "new_contacts", "spend"] as const;
export type BudgetKind = (typeof budgetKinds)[number];

export const budgetPeriods = ["day", "month"] as const;
export type BudgetPeriod = (typeof budgetPeriods)[number];

/** park: what is beyond waits for a person. refuse: it is rejected. */
export const beyondBudget = ["park", "refuse"] as const;

const maxCount = 1_000_000_000;
const count = z.int().min(0).max(maxCount);

const limitsOf = (limit: z.ZodNumber, what: string) =>
  z
    .object({
      day: limit.nullable().default(null).describe("In a day; null: no limit"),
      month: limit.nullable().default(null).describe("In a month; null: no limit"),
    })
    .nullable()
    .default(null)
    .describe(what);

export const Budgets = z.object({
  messages: limitsOf(count, "Messages"),
  new_contacts: limitsOf(count, "Contacts that are created"),
  spend: limitsOf(money.min(0), "Price of messages, in the currency's unit"),
  beyond: z
    .enum(beyondBudget)
    .default("park")
    .describe("park: a person releases what is beyond; refuse: it is rejected"),
});
export type Budgets = z.infer<typeof Budgets>;

/** The budgets that count an act, of one holder. */
export interface BoundBudgets extends Budgets {
  /** The id of a key, `mcp` or `organization`. */
  readonly holder: string;
  /** The IANA time zone of the organization, in which a day and a month begin. */
  readonly time_zone: string;
}

const Use = z.object({
  /** Null: no limit. */
  limit: z.number().nullable(),
  used: z.number(),
  /** When the next day or month begins. */
  renews_at: timestamp,
});
const Uses = z.object({ day: Use, month: Use });
const Spent = Use.extend({
  /** Simulated money, to which the limit applies on its own. */
  used_simulated: z.number(),
});

/** What is used of the budgets of one holder. Counted from when the budgets were set. */
export const BudgetUse = z.object({
  messages: Uses,
  new_contacts: Uses,
  spend: z.object({ day: Spent, month: Spent }),
});

/** The budget that held an act back. */
export const ReachedBudget = z.object({
  /** The id of a key, `mcp` or `organization`. */
  holder: z.string(),
  kind: z.enum(budgetKinds),
  period: z.enum(budgetPeriods),
  limit: z.number(),
  used: z.number(),
  /** How much the act needed. */
  needed: z.number(),
  renews_at: timestamp,
});
export type ReachedBudget = z.infer<typeof ReachedBudget>;
