/** Columns of events, webhooks and their deliveries. */
import type { SealedText } from "./columns.ts";

export interface WebhookColumns {
  events: {
    /** Null if the event belongs to no conversation. */
    conversation_id: string;
    /** Null if the event names no contact. */
    contact_id: string;
  };
  webhooks: {
    secret: SealedText;
    previous_secret: SealedText;
    disabled_reason: "gone" | "failing";
  };
  webhook_deliveries: {
    status: "pending" | "delivered" | "failed" | "held";
    attempts: unknown[];
  };
}
