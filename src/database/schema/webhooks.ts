/** The tables of events, webhooks and their deliveries. */
import type { Generated } from "kysely";
import type { Json, Sealed } from "./columns.ts";

export interface WebhookTables {
  events: {
    organization_id: string;
    id: string;
    type: string;
    body: string;
    order_key: string;
    /** Null: it is of no conversation. */
    conversation_id: string | null;
    transaction_id: Generated<string>;
    created_at: string;
  };
  webhooks: {
    organization_id: string;
    id: string;
    url: string;
    events: string[];
    description: string | null;
    secret: Sealed;
    previous_secret: Sealed | null;
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
}
