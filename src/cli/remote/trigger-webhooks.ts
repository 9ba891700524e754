/** Sends an example of an event to the webhooks that subscribe to it, through the service. */
import type { OutputOf } from "../../../tools/contract/index.ts";
import type { PublicEventName } from "../../../tools/events.ts";
import { inboxes } from "../../../tools/inboxes.ts";
import { webhooks } from "../../../tools/webhooks.ts";
import type { Client } from "../../client/index.ts";
import type { CommandOptions } from "../commands/options.ts";
import { print } from "../commands/print.ts";
import { withClient } from "./connect.ts";

type WebhookTest = OutputOf<typeof webhooks.test_webhook>["data"];

/** Returns whether all receivers accepted the event. @throws Error if there is none, or an inbox is real. */
export async function triggerWebhooks(options: CommandOptions, type: PublicEventName): Promise<boolean> {
  const tests = await withClient(options, "trigger", async (client) => {
    await requireSimulatedInboxes(client, type);
    const subscribed = await listSubscribed(client, type);
    return Promise.all(
      subscribed.map(async ({ id, url }) => {
        const { data } = await client.call(webhooks.test_webhook, { id, event: type });
        const { delivered, status_code, ms, problem, event } = data;
        return { webhook_id: id, url, delivered, status_code, ms, problem, event };
      }),
    );
  });
  print(options.json, tests, () => tests.flatMap(describeTest));
  return tests.every(({ delivered }) => delivered);
}

/** The programs behind the webhooks of a real inbox may act on an example as on an event. */
async function requireSimulatedInboxes(client: Client, type: PublicEventName): Promise<void> {
  const { data } = await client.call(inboxes.list_inboxes, {});
  const real = data.find(({ simulated }) => !simulated);
  if (real) {
    throw new Error(
      `The organization has a real inbox, ${real.phone_number} (${real.channel}). tidings trigger sends examples to the webhooks of simulated inboxes alone. ${forwardAdvice(type)}`,
    );
  }
}

async function listSubscribed(client: Client, type: PublicEventName) {
  const { data } = await client.call(webhooks.list_webhooks, {});
  const subscribed = data.webhooks.filter(({ is_active, events }) => is_active && events.includes(type));
  if (subscribed.length === 0) {
    throw new Error(
      `No active webhook subscribes to ${type}. Create one with create_webhook (POST /v1/webhook-subscriptions). ${forwardAdvice(type)}`,
    );
  }
  return subscribed;
}

function forwardAdvice(type: PublicEventName): string {
  return `For a program on this machine: tidings trigger ${type} --forward-to http://127.0.0.1:4000/hooks`;
}

function describeTest({
  url,
  status_code,
  ms,
  problem,
}: Pick<WebhookTest, "status_code" | "ms" | "problem"> & { readonly url: string }): string[] {
  const line = `${url}  ${status_code ?? `failed: ${problem?.message}`}  ${ms} ms`;
  return problem ? [line, `  ${problem.fix}`] : [line];
}
