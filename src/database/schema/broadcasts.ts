/** The tables of cohorts and of broadcasts to them. */
import type { Generated } from "kysely";
import type { Actor, Json } from "./columns.ts";
import type { TemplateContent } from "./templates.ts";

export interface BroadcastTables {
  broadcasts: {
    organization_id: string;
    id: string;
    inbox_id: string;
    name: string;
    cohort_id: string;
    template_id: string;
    variable_mapping: Json<Readonly<Record<string, unknown>>>;
    header_media_url: string | null;
    scheduled_at: string | null;
    execution_status: "draft" | "scheduled" | "processing" | "paused" | "completed" | "cancelled" | "failed";
    paused_reason: string | null;
    failure_reason: string | null;
    /** The approved template as it was at the execution. */
    template: Json<{
      readonly name: string;
      readonly language: string;
      readonly version: TemplateContent;
    }> | null;
    /** Who executed it. */
    executed_by: Json<Actor> | null;
    /** Of the recipients, those that are excluded not counted. */
    total: Generated<number>;
    /** Those that were handed to the delivery. */
    queued: Generated<number>;
    /** Includes delivered and read. */
    sent: Generated<number>;
    delivered: Generated<number>;
    read: Generated<number>;
    failed: Generated<number>;
    /** Contacts of the cohort that are no recipients, by reason. */
    excluded: Json<Readonly<Record<string, number>>>;
    /** Null: there are no prices. */
    currency: string | null;
    /** Whether simulated money pays the current run. */
    simulated: Generated<boolean>;
    /** Rises with each execution and retry: names the hold of its price. */
    runs: Generated<number>;
    started_at: string | null;
    completed_at: string | null;
    created_at: string;
    updated_at: string;
  };
  broadcast_recipients: {
    organization_id: string;
    broadcast_id: string;
    contact_id: string;
    /** A number, or a business-scoped id. */
    to: string | null;
    status: "pending" | "queued" | "excluded";
    reason: string | null;
    country: string | null;
    /** In millionths of the currency's unit. */
    price: number | null;
    variables: Json<Readonly<Record<string, string>>> | null;
    message_id: string | null;
  };
}

export interface CohortTables {
  cohorts: {
    organization_id: string;
    id: string;
    name: string;
    description: string | null;
    type: "query" | "csv";
    csv_url: string | null;
    query: Json<Record<string, unknown>>;
    contact_count: Generated<number>;
    status: "building" | "ready" | "failed";
    upload_id: string | null;
    position: Generated<number>;
    rejected: Generated<number>;
    errors: Json<readonly { line: number; reason: string }[]>;
    failure: string | null;
    created_at: string;
    updated_at: string;
  };
  cohort_members: {
    organization_id: string;
    cohort_id: string;
    contact_id: string;
  };
}
