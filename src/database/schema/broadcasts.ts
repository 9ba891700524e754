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
    /** Who executed it. */
    executed_by: StoredActor;
    /** Of the recipients, those that are excluded not counted. */
    total: number;
    /** Those that were handed to the delivery. */
    queued: number;
    /** Includes delivered and read. */
    sent: number;
    /** Contacts of the cohort that are no recipients, by reason. */
    excluded: Readonly<Record<string, number>>;
    /** Null: there are no prices. */
    currency: string;
    /** Whether simulated money pays the current run. */
    simulated: boolean;
    /** Rises with each execution and retry: names the hold of its price. */
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
