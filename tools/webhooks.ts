/** Webhooks: an organization's addresses that are told of message events, signed. */
import { z } from "zod";
import {
  Deleted,
  type ErrorEntry,
  errorEntry,
  id,
  one,
  operation,
  paged,
  paging,
  timestamp,
  untrusted,
} from "./contract/index.ts";
import { publicEvents } from "./events.ts";

/** The events that may be subscribed to, in the specification's order. */
export const webhookEvents = Object.keys(publicEvents) as (keyof typeof publicEvents)[]; // a literal's keys

export const deliveryStatuses = ["pending", "delivered", "failed", "held"] as const;

const Webhook = z.object({
  id: z.string(),
  url: z.string(),
  events: z.array(z.enum(webhookEvents)),
  is_active: z.boolean(),
  /** Why the service switched it off: its server answered 410, or failed for five days. */
  disabled_reason: z.enum(["gone", "failing"]).nullable(),
  description: z.string().nullable(),
  created_by: z.string().nullable(),
  created_at: timestamp,
  updated_at: timestamp,
});

const Delivery = z.object({
  /** The event's own id, as the receiver knows it. */
  id: z.string(),
  type: z.enum(webhookEvents),
  status: z.enum(deliveryStatuses),
  created_at: timestamp,
  next_try_at: timestamp.nullable(),
  /** Oldest first; of many the latest thirty. */
  attempts: z.array(
    z.object({
      number: z.int(),
      attempted_at: timestamp,
      status_code: z.int().nullable(),
      ms: z.int(),
      /** Why there was no answer. */
      error: z.string().nullable(),
      /** The first 4 kB of it. */
      answer: untrusted(z.string()).nullable(),
      next_try_at: timestamp.nullable(),
    }),
  ),
});

const webhookId = id("Webhook", "list_webhooks");
const deliveryId = id("Delivery", "list_webhook_deliveries");

// Which addresses may be reached is the operator's to say, so the service decides more than this.
const url = z
  .url({ protocol: /^https?$/, error: "Send an https:// address." })
  .max(2048, "At most 2048 characters.")
  .describe("HTTPS address that takes POST");
const subscribed = z.array(z.enum(webhookEvents)).min(1).describe("Events to be told of");
const description = z.string().max(500).describe("What it is for, at most 500 characters");

export const webhooks = {
  create_webhook: operation({
    method: "POST",
    path: "/v1/webhook-subscriptions",
    // Of people only owners and admins hold the scope, so the other path needs no rule of its own.
    also: [{ path: "/v1/developer-access/webhooks", credential: "any" }],
    scope: "tokens:create",
    title: "Create webhook",
    description:
      "Send message events to an HTTPS address. signing_secret, which checks their signatures, is in this answer only. test_webhook tries it.",
    input: z.object({ url, events: subscribed, description: description.optional() }),
    output: one(Webhook.extend({ signing_secret: z.string() })),
    status: 201,
    showsSecret: true,
    hints: { openWorld: true },
  }),

  list_webhooks: operation({
    method: "GET",
    path: "/v1/webhook-subscriptions",
    scope: "tokens:read",
    title: "List webhooks",
    description: "List the webhook subscriptions with their events and state. Secrets are never shown.",
    input: z.object({}),
    output: one(z.object({ webhooks: z.array(Webhook) })),
  }),

  test_webhook: operation({
    method: "POST",
    path: "/v1/webhook-subscriptions/{id}/test",
    scope: "tokens:create",
    effect: "outward",
    title: "Test webhook",
    description: "Send a signed test event to a webhook and tell what its server answered.",
    input: z.object({ id: webhookId }),
    output: one(
      z.object({
        delivered: z.boolean(),
        status_code: z.int().nullable(),
        event: z.object({
          id: z.string(),
          type: z.enum(webhookEvents),
          organization_id: z.string(),
          created_at: timestamp,
          data: z.object({ test: z.literal(true) }),
        }),
      }),
    ),
    hints: { openWorld: true },
  }),

  delete_webhook: operation({
    method: "DELETE",
    path: "/v1/webhook-subscriptions/{id}",
    scope: "tokens:create",
    title: "Delete webhook",
    description: "Delete a webhook subscription. Its address is told of nothing from then on.",
    input: z.object({ id: webhookId }),
    output: one(Deleted),
  }),

  get_webhook: operation({
    method: "GET",
    path: "/v1/webhook-subscriptions/{id}",
    scope: "tokens:read",
    tier: "extended",
    title: "Get webhook",
    description: "Get one webhook subscription: its events, and whether and why it is switched off.",
    input: z.object({ id: webhookId }),
    output: one(Webhook),
  }),

  update_webhook: operation({
    method: "PUT",
    path: "/v1/webhook-subscriptions/{id}",
    scope: "tokens:create",
    tier: "extended",
    title: "Update webhook",
    description:
      "Change a webhook's address, events or description, or switch it off and on. Only the fields sent change. While it is off, events are held; recover_webhook_deliveries sends them afterwards.",
    input: z.object({
      id: webhookId,
      url: url.optional(),
      events: subscribed.optional(),
      description: description.optional(),
      is_active: z.boolean().optional().describe("false: events are held and not sent"),
    }),
    output: one(Webhook),
    hints: { openWorld: true },
  }),

  rotate_webhook_secret: operation({
    method: "POST",
    path: "/v1/webhook-subscriptions/{id}/rotate-secret",
    scope: "tokens:create",
    tier: "extended",
    title: "Rotate webhook secret",
    description:
      "Give a webhook a new signing_secret, in this answer only. X-Webhook-Signature is made with it at once; webhook-signature carries the old one's too for 24 hours.",
    input: z.object({ id: webhookId }),
    output: one(Webhook.extend({ signing_secret: z.string() })),
    showsSecret: true,
    hints: { destructive: true },
  }),

  list_webhook_deliveries: operation({
    method: "GET",
    path: "/v1/webhook-subscriptions/{id}/deliveries",
    scope: "tokens:read",
    tier: "extended",
    title: "List webhook deliveries",
    description:
      "List a webhook's deliveries of the last 15 days, newest first: each try with what its server answered, and when the next is.",
    input: z.object({
      id: webhookId,
      status: z.enum(deliveryStatuses).optional().describe("Only these; held: the webhook was off"),
      ...paging(10),
    }),
    output: paged(Delivery),
  }),

  replay_webhook_delivery: operation({
    method: "POST",
    path: "/v1/webhook-subscriptions/{id}/deliveries/{delivery_id}/replay",
    scope: "tokens:create",
    tier: "extended",
    title: "Replay webhook delivery",
    description:
      "Send an event to a webhook again, now, with the same id and content. The retries begin anew.",
    input: z.object({ id: webhookId, delivery_id: deliveryId }),
    output: one(Delivery),
    hints: { openWorld: true },
  }),

  recover_webhook_deliveries: operation({
    method: "POST",
    path: "/v1/webhook-subscriptions/{id}/recover",
    scope: "tokens:create",
    tier: "extended",
    title: "Recover webhook deliveries",
    description:
      "Send again, now, all that failed, was held or waits for another try at a webhook since a time, at most 14 days ago.",
    input: z.object({ id: webhookId, since: timestamp.describe("Events from this time on, ISO 8601") }),
    output: one(z.object({ recovering: z.int() })),
    hints: { openWorld: true },
  }),

  list_events: operation({
    method: "GET",
    path: "/v1/events",
    // It shows what contacts wrote.
    scope: { all: ["tokens:read", "inbox:read"] },
    tier: "extended",
    title: "List events",
    description:
      "List message events as webhooks are told of them, oldest first, at most 100. Pass the answer's cursor as after in the next call, and nothing is missed in between.",
    input: z.object({
      after: z.string().max(4096).optional().describe("cursor of the last answer; from now when left out"),
    }),
    output: one(
      z.object({
        events: z.array(
          z.object({
            id: z.string(),
            type: z.enum(webhookEvents),
            organization_id: z.string(),
            created_at: timestamp,
            data: untrusted(z.record(z.string(), z.unknown())),
          }),
        ),
        cursor: z.string(),
      }),
    ),
  }),
};

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
    "Find the id with list_webhook_deliveries; deliveries are kept for 15 days.",
  ),
  webhook_inactive: errorEntry(
    "conflict",
    409,
    "The webhook is switched off: nothing is sent to it.",
    "Switch it on first: update_webhook with is_active true.",
  ),
  too_many_webhooks: errorEntry(
    "business_rule",
    422,
    "There are at most {limit} webhook subscriptions in an organization.",
    "Delete one that is not needed (list_webhooks), or add the events to one that is there (update_webhook).",
  ),
  webhook_address_refused: errorEntry(
    "invalid_request",
    400,
    "Nothing can be sent to this address. {reason}",
    "Send an https:// address of the public internet, on port 443 or 8443.",
  ),
  since_too_early: errorEntry(
    "invalid_request",
    400,
    "since is more than {limit} days ago.",
    "Send a time within the last {limit} days.",
  ),
} as const satisfies Record<string, ErrorEntry>;
