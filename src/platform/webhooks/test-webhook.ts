/** Sends a test event to a webhook and returns how the receiver answered. */
import { z } from "zod";
import { newId } from "../../database/id.ts";
import { outward } from "../kernel/index.ts";
import { classifyResponse, postEvent } from "./deliver.ts";
import { getWebhook } from "./subscriptions.ts";

/** Shorter than a delivery's: the caller waits at most 30 s for the response. */
const timeoutMs = 25_000;

const TestEvent = z.object({
  id: z.string(),
  type: z.literal("message.received"),
  organization_id: z.string(),
  created_at: z.string(),
  data: z.object({ test: z.literal(true) }),
});

/** A receiver can't be asked which events it received, so a test that was interrupted has an unknown outcome. */
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
    return postEvent(world, { ...webhook, event_id: event.id, body: JSON.stringify(event) }, { timeoutMs });
  },

  async record(answer, { event }) {
    const status_code = answer.outcome === "answered" ? answer.status : null;
    return { data: { delivered: classifyResponse(answer) === "delivered", status_code, event } };
  },
});
