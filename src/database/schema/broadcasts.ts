/** Columns of cohorts and of broadcasts to them. */
import type { StoredActor } from "./columns.ts";
import type { StoredTemplateContent } from "./templates.ts";

/** An approved template as a broadcast sends it. */
export type BroadcastTemplate = {
  readonly name: string;
  readonly language: string;
  readonly version: StoredTemplateContent;
};

export interface BroadcastColumns {
  broadcasts: {
    variable_mapping: Readonly<Record<string, unknown>>;
    execution_status: "draft" | "scheduled" | "processing" | "paused" | "completed" | "cancelled" | "failed";
    /** The approved template as it was at the execution. */
    template: BroadcastTemplate;
    /** Who executed the broadcast. */
    executed_by: StoredActor;
    /** Whose budgets count its messages, beside the organization's. */
    budget_holders: string[];
    /** The budget that paused it last. */
    paused_budget: Record<string, unknown>;
    /** The number of recipients, without excluded ones. */
    total: number;
    /** Recipients for whom a message was enqueued. */
    queued: number;
    /** Includes delivered and read. */
    sent: number;
    /** Contacts of the cohort that are no recipients, by reason. */
    excluded: Readonly<Record<string, number>>;
    /** Null if there are no prices. */
    currency: string;
    /** Whether simulated money pays the current run. */
    simulated: boolean;
    /** Increased by each execution and retry; part of the reference of the hold of its price. */
    runs: number;
  };
  broadcast_recipients: {
    /** A number, or a business-scoped id. */
    to: string;
    status: "pending" | "queued" | "excluded";
    /** In millionths of the currency's unit. */
    price: number;
    variables: Readonly<Record<string, string>>;
  };
}

export interface CohortColumns {
  cohorts: {
    type: "query" | "csv";
    query: Record<string, unknown>;
    status: "building" | "ready" | "failed";
    errors: readonly { line: number; reason: string }[];
  };
}
