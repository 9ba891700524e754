/** Checks of a running service, through its API and without a change: key, inboxes and webhooks. */

import { auth } from "../../../tools/auth.ts";
import type { OutputOf } from "../../../tools/contract/index.ts";
import { inboxes } from "../../../tools/inboxes.ts";
import { webhooks } from "../../../tools/webhooks.ts";
import { type Client, NoResponseError } from "../../client/index.ts";
import type { Config } from "../../config/index.ts";
import { connectToService, explainFailure } from "../remote/connect.ts";
import { about, type Finding } from "./finding.ts";

const service = about("service");

export async function checkService(config: Config): Promise<readonly Finding[]> {
  const { client, description } = await connectToService(config, "doctor");
  const isUpstream = config.upstream !== undefined;
  try {
    const { data } = await client.call(auth.whoami, {});
    const found = service.ok(`It answers, for the organization ${JSON.stringify(data.organization.name)}.`);
    return [found, ...(await checkInboxes(client)), ...(await checkWebhooks(client))];
  } catch (error) {
    const { message } = explainFailure(error, { description, isUpstream });
    return error instanceof NoResponseError && !isUpstream
      ? [
          service.warning(
            `No service answers at ${description}.`,
            "Start it with tidings serve, to check inboxes and webhooks too.",
          ),
        ]
      : [service.problem(message, "Run tidings doctor again afterwards.")];
  } finally {
    await client.close();
  }
}

async function checkInboxes(client: Client): Promise<readonly Finding[]> {
  const { data } = await client.call(inboxes.list_inboxes, {});
  return data.map(describeInbox);
}

type Inbox = OutputOf<typeof inboxes.list_inboxes>["data"][number];

export function describeInbox({
  phone_number,
  channel,
  health,
}: Pick<Inbox, "phone_number" | "channel" | "health">): Finding {
  const { ok, warning, problem } = about("channel");
  const inbox = `Inbox ${phone_number} (${channel})`;
  const reason = JSON.stringify(health.reason ?? `code ${health.code}`);
  if (health.status === "stopped") {
    return problem(
      `${inbox} can't send: ${reason}.`,
      "Correct the account at the channel, or the inbox's credentials.",
    );
  }
  return health.status === "unreachable"
    ? warning(
        `${inbox} does not reach its channel: ${reason}.`,
        "Check the network. Messages are tried again.",
      )
    : ok(`${inbox} can send, as far as its last messages show.`);
}

async function checkWebhooks(client: Client): Promise<readonly Finding[]> {
  const { data } = await client.call(webhooks.list_webhooks, {});
  return await Promise.all(
    data.webhooks.map(async (webhook) => {
      const { data: deliveries } = await client.call(webhooks.list_webhook_deliveries, { id: webhook.id });
      return describeWebhook(webhook, deliveries);
    }),
  );
}

interface CheckedWebhook {
  readonly id: string;
  readonly url: string;
  readonly is_active: boolean;
  readonly disabled_reason: string | null;
}

type Delivery = OutputOf<typeof webhooks.list_webhook_deliveries>["data"][number];

/** @param deliveries the newest first. */
export function describeWebhook(
  { id, url, is_active, disabled_reason }: CheckedWebhook,
  deliveries: readonly Pick<Delivery, "status" | "attempts">[],
): Finding {
  const { ok, warning, problem } = about("webhook");
  // The path and the query of an address may contain secrets.
  const webhook = `${id} at ${new URL(url).origin}`;
  if (!is_active) {
    return disabled_reason === null
      ? ok(`${webhook} is switched off.`)
      : problem(
          `${webhook} was switched off by the service (${disabled_reason}).`,
          "Correct the receiver, and switch it on with update_webhook.",
        );
  }
  const tried = deliveries.find(({ attempts }) => attempts.length > 0);
  const last = tried?.attempts.at(-1);
  if (tried === undefined || last === undefined || tried.status === "delivered") {
    return ok(`${webhook} ${tried ? "accepts events" : "has had no event yet"}.`);
  }
  const outcome =
    last.status_code === null ? JSON.stringify(last.error ?? "no answer") : `status ${last.status_code}`;
  return warning(`${webhook} fails: ${outcome}.`, "Correct the receiver. test_webhook says what is wrong.");
}
