/** The tables of what the house does by itself: jobs, events and their deliveries, the simulated channel. */
import type { Generated } from "kysely";
import type { Json } from "./columns.ts";

export interface MachineryTables {
  jobs: {
    id: string;
    name: string;
    lane: string;
    key: string | null;
    organization_id: string | null;
    payload: Json<unknown>;
    run_at: string;
    attempts: Generated<number>;
    claims: Generated<number>;
    schedule: string | null;
    traceparent: string | null;
    created_at: string;
  };
  dead_jobs: {
    id: string;
    name: string;
    lane: string;
    key: string | null;
    organization_id: string | null;
    payload: Json<unknown>;
    attempts: number;
    error: string;
    created_at: string;
    died_at: string;
  };
  events: {
    organization_id: string;
    id: string;
    type: string;
    body: string;
    order_key: string;
    conversation_id: string;
    transaction_id: Generated<string>;
    created_at: string;
  };
  webhooks: {
    organization_id: string;
    id: string;
    url: string;
    events: string[];
    description: string | null;
    secret: string;
    previous_secret: string | null;
    previous_secret_until: string | null;
    is_active: Generated<boolean>;
    disabled_reason: "gone" | "failing" | null;
    failing_since: string | null;
    created_by: string | null;
    created_at: string;
    updated_at: string;
  };
  webhook_deliveries: {
    organization_id: string;
    webhook_id: string;
    event_id: string;
    status: "pending" | "delivered" | "failed" | "held";
    turn: Generated<number>;
    step: Generated<number>;
    attempts: Json<unknown[]>;
    next_try_at: string | null;
    created_at: string;
  };
  simulator_messages: {
    organization_id: string;
    id: string;
    token: string;
    phone_number: string;
    direction: "outbound" | "inbound";
    content: Json<Record<string, unknown>>;
    status: string;
    created_at: string;
  };
  simulator_faults: { organization_id: string; faults: Json<Record<string, unknown>> };
}
