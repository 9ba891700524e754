/** Sends a test event to a webhook and returns how the receiver answered. */
import { z } from "zod";
import { newId } from "../../../database/id.ts";
import { outward } from "../../foundation/kernel/index.ts";
import { postEvent, signEvent } from "./deliver.ts";
import { explainTest } from "./explain-test.ts";
import { getWebhook } from "./subscriptions.ts";

const verification =
  "x-webhook-signature is the HMAC-SHA256 of the raw request body in hexadecimal; the key is the whole signing_secret, with whsec_. The webhook-* headers follow Standard Webhooks, whose libraries verify them with the same secret.";

const TestEvent = z.object({
  id: z.string(),
  type: z.literal("message.received"),
  organization_id: z.string(),
  created_at: z.string(),
  data: z.object({ test: z.literal(true) }),
});

/** Receivers have no way to look up a received event, so the outcome of an interrupted test is unknown. */
export const testWebhook = outward({
  intent: z.object({ webhook_id: z.string(), event: TestEvent }),

  async begin({ id }: { readonly id: string }, { tx, organization, now }) {
    await getWebhook(tx, organization, id);
    const event = {
      id: newId("evt_test", now),
      type: "message.received" as const,
      organization_id: organization,
      created_at: now.toISOString(),
      data: { test: true as const },
    };
    return { webhook_id: id, event };
  },

  async call({ webhook_id, event }, { world, organization }) {
    const webhook = await getWebhook(world.database.queries, organization, webhook_id);
    const signed = signEvent(world, { ...webhook, event_id: event.id, body: JSON.stringify(event) });
    return { signed, answer: await postEvent(world, signed) };
  },

  async record({ signed: { url, headers }, answer }, { event }) {
    const problem = explainTest(answer);
    const status_code = answer.outcome === "answered" ? answer.status : null;
    const request = { url, headers };
    return { data: { delivered: problem === null, status_code, event, problem, request, verification } };
  },
});
