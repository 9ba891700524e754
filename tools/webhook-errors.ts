/** Errors of webhooks. */
import { type ErrorEntry, errorEntry } from "./contract/index.ts";

export const webhookErrors = {
  webhook_not_found: errorEntry(
    "not_found",
    404,
    "There is no webhook with this id.",
    "Find the id with list_webhooks (GET /v1/webhook-subscriptions).",
  ),
  webhook_delivery_not_found: errorEntry(
    "not_found",
    404,
    "This webhook has no delivery with this id.",
    "Find the id with list_webhook_deliveries. Deliveries are kept for 30 days, unless TIDINGS_RETENTION_EVENTS_DAYS says otherwise.",
  ),
  webhook_inactive: errorEntry(
    "conflict",
    409,
    "The webhook is disabled.",
    "Enable it first: update_webhook with is_active true.",
  ),
  event_not_subscribed: errorEntry(
    "business_rule",
    422,
    "The webhook does not subscribe to {value}.",
    "Send one of the webhook's events, or add this one with update_webhook.",
  ),
  too_many_webhooks: errorEntry(
    "business_rule",
    422,
    "An organization can have {limit} webhook subscriptions.",
    "Delete one (delete_webhook), or add the events to another (update_webhook).",
  ),
  webhook_address_refused: errorEntry(
    "invalid_request",
    400,
    "Events can't be sent to this address. {reason}",
    "Send an https:// address of the public internet, on port 443 or 8443. For a program on your own machine use `tidings listen`, which needs no webhook, or set TIDINGS_ALLOW_LOCAL_WEBHOOKS=true where the service runs on that machine.",
  ),
  since_too_early: errorEntry(
    "invalid_request",
    400,
    "since is more than {limit} days ago.",
    "Send a time within the last {limit} days.",
  ),
} as const satisfies Record<string, ErrorEntry>;
