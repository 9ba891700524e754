/** Describes the requests that the service sends to subscribed webhooks: one for each public event. */
import type { JsonSchema } from "../../../tools/contract/index.ts";
import { eventEnvelope, eventExamples } from "../../../tools/event-examples.ts";
import { isEventOnDemand, type PublicEventName, publicEvents } from "../../../tools/events.ts";
import type { Components } from "./components.ts";
import { toTypeName } from "./operations.ts";
import { refer } from "./responses.ts";

export function describeWebhooks(
  components: Components,
): Readonly<Record<string, { readonly post: JsonSchema }>> {
  const names = Object.keys(publicEvents) as PublicEventName[]; // the keys of a literal
  return Object.fromEntries(names.map((name) => [name, { post: describeWebhook(name, components) }]));
}

function describeWebhook(name: PublicEventName, components: Components): JsonSchema {
  const { when, data } = eventExamples[name];
  const { scope } = publicEvents[name];
  const recorded = isEventOnDemand(name)
    ? " Recorded from the moment when a webhook, a flow, list_events or stream_events asks for it."
    : "";
  return {
    operationId: `receive_${name.replace(".", "_")}`,
    tags: ["webhook-events"],
    summary: name,
    description: `${when}${recorded} A subscription to it needs ${scope}.`,
    security: [],
    parameters: Object.keys(webhookParameters).map((parameter) => refer("parameters", parameter)),
    requestBody: {
      required: true,
      content: {
        "application/json": {
          schema: components.name(`${toTypeName(name)}Event`, describeEvent(name, components)),
          example: { ...eventEnvelope, type: name, data },
        },
      },
    },
    responses: {
      "2XX": { description: "Received. The event is not sent again." },
      "4XX": { description: "Not received; the event is sent again later. 410 switches the webhook off." },
      "5XX": { description: "Not received; the event is sent again later." },
    },
  };
}

function describeEvent(name: PublicEventName, components: Components): JsonSchema {
  const text = { type: "string" };
  return {
    type: "object",
    properties: {
      id: { ...text, description: "The same in every delivery of an event." },
      type: { ...text, enum: [name] },
      organization_id: text,
      created_at: { ...text, format: "date-time" },
      data: components.read(publicEvents[name].data, "output"),
    },
    required: ["id", "type", "organization_id", "created_at", "data"],
  };
}

/** The headers of a delivery. */
export const webhookParameters: Readonly<Record<string, JsonSchema>> = {
  WebhookSignature: describeHeader(
    "X-Webhook-Signature",
    "The HMAC-SHA256 of the raw body in lowercase hexadecimal; the key is the whole signing_secret.",
  ),
  StandardWebhookId: describeHeader("webhook-id", "The id of the event, as in the body."),
  StandardWebhookTimestamp: describeHeader(
    "webhook-timestamp",
    "When the request was signed, in seconds since 1970.",
  ),
  StandardWebhookSignature: describeHeader(
    "webhook-signature",
    "Signatures as in Standard Webhooks, separated by spaces.",
  ),
};

function describeHeader(name: string, description: string): JsonSchema {
  return { name, in: "header", required: true, description, schema: { type: "string" } };
}
