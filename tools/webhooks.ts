/** Webhooks: subscriptions that send signed events to an organization's addresses. */
import { z } from "zod";
import {
  DeletionResult,
  id,
  inputTimestamp,
  newer,
  no,
  one,
  operation,
  paged,
  pageSize,
  paging,
  timestamp,
  untrusted,
  yes,
} from "./contract/index.ts";
import { explainUnknownEvent, isPublicEvent, publicEvents, specifiedEvents } from "./events.ts";

/** The events of subscriptions, in the specification's order: the keys of a literal. */
export const webhookEvents = Object.keys(publicEvents) as (keyof typeof publicEvents)[];

/** The limit for the whole exchange, from the specification. */
export const webhookTimeoutSeconds = 30;

export const deliveryStatuses = ["pending", "delivered", "failed", "held"] as const;

const Webhook = z.object({
  id: z.string(),
  url: z.string(),
  events: z.array(z.enum(webhookEvents)),
  is_active: z.boolean(),
  /** Why the service disabled the webhook: the address returned 410, or failed for five days. */
  disabled_reason: z.enum(["gone", "failing"]).nullable(),
  description: z.string().nullable(),
  created_by: z.string().nullable(),
  created_at: timestamp,
  updated_at: timestamp,
});

const Delivery = z.object({
  /** The event's id, as the receiver gets it. */
  id: z.string(),
  type: z.enum(webhookEvents),
  status: z.enum(deliveryStatuses),
  created_at: timestamp,
  next_try_at: timestamp.nullable(),
  /** The latest thirty, oldest first. */
  attempts: z.array(
    z.object({
      number: z.int(),
      attempted_at: timestamp,
      status_code: z.int().nullable(),
      ms: z.int(),
      /** Why there was no response. */
      error: z.string().nullable(),
      /** The first 4 kB of the response body. */
      answer: untrusted(z.string()).nullable(),
      next_try_at: timestamp.nullable(),
    }),
  ),
});

const webhookId = id("Webhook", "list_webhooks");
const deliveryId = id("Delivery", "list_webhook_deliveries");

// The service also applies the operator's rules for addresses.
const url = z
  .url({ protocol: /^https?$/, error: "Send an https:// address." })
  .max(2048, "At most 2048 characters.")
  .describe("HTTPS address");
const subscribedEvents = z.array(z.enum(webhookEvents)).min(1).max(50).describe("Events to send");
const description = z.string().max(500).describe("Purpose");

/** A text of its own, because the tool's schema would list all types a second time. */
const testedEvent = z
  .string()
  .max(64)
  .refine(isPublicEvent, { error: ({ input }) => explainUnknownEvent(String(input)) })
  .optional()
  .describe("Event of the webhook, such as message.sent, to send an example of");

const sendsEvents = {
  destructive: yes("It sends message texts to an address outside, from then on."),
  openWorld: yes("Events go to the webhook's address."),
} as const;

const sendsAgain = {
  destructive: yes("An event that was sent can't be called back."),
  idempotent: no("Each call sends the events again."),
  openWorld: yes("It sends events to the webhook's address."),
} as const;

export const webhooks = {
  create_webhook: operation({
    method: "POST",
    path: "/v1/webhook-subscriptions",
    // Among users, only owners and admins hold the scope, so the other path needs no rule of its own.
    also: [{ path: "/v1/developer-access/webhooks", credential: "any" }],
    scope: "tokens:create",
    title: "Create webhook",
    description:
      "Send events to an HTTPS address. signing_secret is returned only here. Needs the scope of each event. Try it with test_webhook.",
    input: z.object({ url, events: subscribedEvents, description: description.optional() }),
    output: one(Webhook.extend({ signing_secret: z.string() })),
    status: 201,
    showsSecret: true,
    hints: sendsEvents,
  }),

  list_webhooks: operation({
    method: "GET",
    path: "/v1/webhook-subscriptions",
    scope: "tokens:read",
    title: "List webhooks",
    description: "List webhooks with their events and state, without secrets.",
    input: z.object({}),
    output: one(z.object({ webhooks: z.array(Webhook) })),
  }),

  test_webhook: operation({
    method: "POST",
    path: "/v1/webhook-subscriptions/{id}/test",
    scope: "tokens:create",
    effect: "outward",
    waitSeconds: webhookTimeoutSeconds,
    title: "Test webhook",
    description:
      "Send a signed test event to a webhook. Get its status code or why it failed, and how to verify the signature.",
    input: z.object({ id: webhookId, event: testedEvent }),
    failures: [422],
    output: one(
      z.object({
        delivered: z.boolean(),
        status_code: z.int().nullable(),
        /** How long the receiver took. */
        ms: z.int(),
        event: z.object({
          id: z.string(),
          type: z.enum(webhookEvents),
          organization_id: z.string(),
          created_at: timestamp,
          /** With `event` in the request, the data of the example too. */
          data: z.looseObject({ test: z.literal(true) }),
        }),
        /** Why the event was not delivered, such as `unresolved`, `tls`, `timeout` or `address`. */
        problem: z.object({ reason: z.string(), message: z.string(), fix: z.string() }).nullable(),
        /** The request that was sent; the body is the JSON of `event`. */
        request: z.object({ url: z.string(), headers: z.record(z.string(), z.string()) }),
        verification: z.string(),
      }),
    ),
    hints: {
      destructive: yes("An event that was sent can't be called back."),
      idempotent: no("Each call sends an event."),
      openWorld: yes("It sends an event to the webhook's address."),
    },
  }),

  delete_webhook: operation({
    method: "DELETE",
    path: "/v1/webhook-subscriptions/{id}",
    scope: "tokens:create",
    title: "Delete webhook",
    description: "Delete a webhook. Events stop immediately.",
    input: z.object({ id: webhookId }),
    output: one(DeletionResult),
  }),

  get_webhook: operation({
    method: "GET",
    path: "/v1/webhook-subscriptions/{id}",
    scope: "tokens:read",
    tier: "extended",
    title: "Get webhook",
    description: "Get one webhook subscription: its events, and whether and why it is disabled.",
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
      "Change a webhook's address, events or description, or disable and enable it. Only the fields sent change. While it is disabled, events are held. Send them afterwards with recover_webhook_deliveries.",
    input: z.object({
      id: webhookId,
      url: url.optional(),
      events: subscribedEvents.optional(),
      description: description.optional(),
      is_active: z.boolean().optional().describe("false: events are held, not sent"),
    }),
    output: one(Webhook),
    hints: sendsEvents,
  }),

  rotate_webhook_secret: operation({
    method: "POST",
    path: "/v1/webhook-subscriptions/{id}/rotate-secret",
    scope: "tokens:create",
    tier: "extended",
    title: "Rotate webhook secret",
    description:
      "Replace a webhook's signing_secret. The new one is returned only in this response. X-Webhook-Signature uses it immediately; webhook-signature also contains the old secret's signature for 24 hours.",
    input: z.object({ id: webhookId }),
    output: one(Webhook.extend({ signing_secret: z.string() })),
    showsSecret: true,
    hints: { destructive: yes("The former secret can't be set again.") },
  }),

  list_webhook_deliveries: operation({
    method: "GET",
    path: "/v1/webhook-subscriptions/{id}/deliveries",
    scope: "tokens:read",
    tier: "extended",
    title: "List webhook deliveries",
    description:
      "List a webhook's deliveries as long as they are kept (by default 30 days), newest first: each attempt with its response, and the time of the next attempt.",
    input: z.object({
      id: webhookId,
      status: z
        .enum(deliveryStatuses)
        .optional()
        .describe("Only this status; held: the webhook was disabled"),
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
      "Send an event to a webhook again now, with the same id and content. Its retries start over.",
    input: z.object({ id: webhookId, delivery_id: deliveryId }),
    output: one(Delivery),
    hints: sendsAgain,
  }),

  recover_webhook_deliveries: operation({
    method: "POST",
    path: "/v1/webhook-subscriptions/{id}/recover",
    scope: "tokens:create",
    tier: "extended",
    title: "Recover webhook deliveries",
    description:
      "Send again now all of a webhook's events since a time, at most 14 days ago, that failed, were held or wait for a retry.",
    input: z.object({
      id: webhookId,
      since: inputTimestamp.describe("Events from this time on, ISO 8601"),
    }),
    output: one(z.object({ recovering: z.int() })),
    hints: sendsAgain,
  }),

  list_events: operation({
    method: "GET",
    path: "/v1/events",
    scope: { all: ["tokens:read", "inbox:read"] },
    tier: "extended",
    title: "List events",
    description:
      "List events as webhooks receive them, oldest first. Pass the returned cursor as after in the next call to miss none.",
    input: z
      .object({
        after: z.string().max(4096).optional().describe("cursor of the previous response. Default: from now"),
        since: inputTimestamp
          .optional()
          .describe("Instead of after: events from this time on, as far as they are kept"),
        types: z
          .string()
          .max(2048)
          .default(specifiedEvents.join(","))
          .describe(
            "Comma-separated, like message.failed,conversation.closed; each needs the scope that reads it. Events of contacts and conversations are recorded from the first call that names them. Default: the messages' sent, delivered, read, failed and received",
          ),
        per_page: pageSize(100),
      })
      .superRefine(({ after, since, types }, context) => {
        const unknown = types.split(",").find((type) => !isPublicEvent(type.trim()));
        if (unknown !== undefined) {
          const message = explainUnknownEvent(unknown.trim());
          context.addIssue({ code: "custom", path: ["types"], message });
        }
        if (after !== undefined && since !== undefined) {
          context.addIssue({ code: "custom", path: ["since"], message: "Send either after or since." });
        }
      }),
    output: newer(
      z.object({
        id: z.string(),
        type: z.enum(webhookEvents),
        organization_id: z.string(),
        created_at: timestamp,
        data: untrusted(z.record(z.string(), z.unknown())),
      }),
    ),
  }),
};
