/** Webhooks: an organization's addresses that are told of message events, signed. */
import { z } from "zod";
import { publicEvents } from "./events.ts";
import { Deleted, id, timestamp } from "./fields.ts";
import { one, operation } from "./operation.ts";

/** The events that may be subscribed to, in the specification's order. */
export const webhookEvents = Object.keys(publicEvents) as (keyof typeof publicEvents)[]; // a literal's keys

const Webhook = z.object({
  id: z.string(),
  url: z.string(),
  events: z.array(z.enum(webhookEvents)),
  is_active: z.boolean(),
  description: z.string().nullable(),
  created_by: z.string().nullable(),
  created_at: timestamp,
  updated_at: timestamp,
});

const webhookId = id("Webhook", "list_webhooks");

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
    input: z.object({
      url: z
        .url({ protocol: /^https$/, error: "Send an https:// address." })
        .max(2048)
        .describe("HTTPS address that takes POST"),
      events: z.array(z.enum(webhookEvents)).min(1).describe("Events to be told of"),
      description: z.string().max(500).optional().describe("What it is for, at most 500 characters"),
    }),
    output: one(Webhook.extend({ signing_secret: z.string() })),
    status: 201,
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
};
