/** Sends a test event to a webhook and returns how the receiver answered. */
import { z } from "zod";
import { failField } from "../../../../tools/errors.ts";
import { testDataOf } from "../../../../tools/event-examples.ts";
import { isPublicEvent, type PublicEventName } from "../../../../tools/events.ts";
import { webhookEvents } from "../../../../tools/webhooks.ts";
import { newId } from "../../../database/id.ts";
import { outward } from "../../foundation/kernel/index.ts";
import { postEvent, signEvent } from "./deliver.ts";
import { explainTest } from "./explain-test.ts";
import { getWebhook, serializeWebhook } from "./subscriptions.ts";

const verification =
  "x-webhook-signature is the HMAC-SHA256 of the raw request body in hexadecimal; the key is the whole signing_secret, with whsec_. The webhook-* headers follow Standard Webhooks, whose libraries verify them with the same secret.";

const TestEvent = z.object({
  id: z.string(),
  type: z.enum(webhookEvents),
  organization_id: z.string(),
  created_at: z.string(),
  data: z.looseObject({ test: z.literal(true) }),
});

/** Receivers have no way to look up a received event, so the outcome of an interrupted test is unknown. */
export const testWebhook = outward({
  intent: z.object({ webhook_id: z.string(), event: TestEvent }),

  async begin({ id, event: wanted }: WebhookTest, { tx, organization, now }) {
    const { events } = serializeWebhook(await getWebhook(tx, organization, id));
    const type = chooseType(events, wanted);
    const event = {
      id: newId("evt_test", now),
      type,
      organization_id: organization,
      created_at: now.toISOString(),
      data: wanted === undefined ? { test: true as const } : testDataOf(type),
    };
    return { webhook_id: id, event };
  },

  async describe({ id }, { tx, organization }) {
    const { url } = await getWebhook(tx, organization, id);
    return { summary: `Send a test event to ${url}` };
  },

  async call({ webhook_id, event }, { world, organization }) {
    const webhook = await getWebhook(world.database.queries, organization, webhook_id);
    const signed = signEvent(world, { ...webhook, event_id: event.id, body: JSON.stringify(event) });
    return { signed, answer: await postEvent(world, signed) };
  },

  async record({ signed: { url, headers }, answer }, { event }) {
    const problem = explainTest(answer);
    const status_code = answer.outcome === "answered" ? answer.status : null;
    const ms = "ms" in answer ? Math.round(answer.ms) : 0;
    const request = { url, headers };
    return { data: { delivered: problem === null, status_code, ms, event, problem, request, verification } };
  },
});

interface WebhookTest {
  readonly id: string;
  readonly event?: string | undefined;
}

/**
 * Without a wanted type, the most common one if the webhook subscribes to it, else the first of its types.
 * @throws Failure `event_not_subscribed`.
 */
function chooseType(events: readonly PublicEventName[], wanted: string | undefined): PublicEventName {
  if (wanted === undefined) {
    const [first = defaultType] = events;
    return events.includes(defaultType) ? defaultType : first;
  }
  if (!isPublicEvent(wanted) || !events.includes(wanted)) {
    throw failField("event", "event_not_subscribed", { value: wanted });
  }
  return wanted;
}

const defaultType = "message.received";
