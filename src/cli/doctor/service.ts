/** Checks of a running service, through its API and without a change: key, inboxes and webhooks. */

import { auth } from "../../../tools/auth.ts";
import type { OutputOf } from "../../../tools/contract/index.ts";
import { webhooks } from "../../../tools/webhooks.ts";
import { type Client, NoResponseError } from "../../client/index.ts";
import type { Config } from "../../config/index.ts";
import { connectToService, explainFailure } from "../remote/connect.ts";
import { about, type Finding } from "./finding.ts";
import { checkInboxes } from "./inboxes.ts";

const service = about("service");

interface ServiceOptions {
  /** How many processes of the service use the database now. */
  readonly processes?: number;
}

export async function checkService(
  config: Config,
  { processes = 0 }: ServiceOptions = {},
): Promise<readonly Finding[]> {
  const { client, description } = await connectToService(config, "doctor");
  const isUpstream = config.upstream !== undefined;
  try {
    const { data } = await client.call(auth.whoami, {});
    const found = service.ok(`It answers, for the organization ${JSON.stringify(data.organization.name)}.`);
    return [found, ...(await checkInboxes(client)), ...(await checkWebhooks(client))];
  } catch (error) {
    const { message } = explainFailure(error, { description, isUpstream });
    return error instanceof NoResponseError && error.isOutage && !isUpstream
      ? [describeAbsence(description, processes)]
      : [service.problem(message, "Run tidings doctor again afterwards.")];
  } finally {
    await client.close();
  }
}

export function describeAbsence(description: string, processes: number): Finding {
  return processes === 0
    ? service.warning(
        `No service answers at ${description}.`,
        "Start it with tidings serve, to check inboxes and webhooks too.",
      )
    : service.warning(
        `A service runs on this database, but none answers at ${description}.`,
        "Set PORT to the port of that service, or TIDINGS_BASE_URL and TIDINGS_API_KEY, to check inboxes and webhooks too.",
      );
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
