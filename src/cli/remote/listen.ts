/**
 * `tidings listen`: forwards the organization's events to a program under development, signed like webhooks.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { webhookEvents, webhooks } from "../../../tools/webhooks.ts";
import { CallFailure, type Client, createClient } from "../../client/index.ts";
import { type Config, readConfig } from "../../config/index.ts";
import { newSigningSecret, signDelivery } from "../../platform/automation/webhooks/index.ts";
import { toAddress } from "../address.ts";
import { type CommandOptions, settingsOf } from "../commands/options.ts";
import { openDataFolder } from "../data-folder/data-folder.ts";
import { createVerifier } from "../data-folder/verify-server.ts";
import { version } from "../version.ts";

/** Fast enough for interactive use; causes two requests per second. */
const pollMs = 500;
/** The timeout of a webhook delivery. */
const forwardTimeoutMs = 30_000;

interface Event {
  readonly id: string;
  readonly type: string;
}

export async function runListen(options: CommandOptions): Promise<void> {
  const { "forward-to": forwardTo } = options;
  if (forwardTo === undefined || !URL.canParse(forwardTo) || !/^https?:$/.test(new URL(forwardTo).protocol)) {
    throw new Error("tidings listen takes an address: --forward-to http://127.0.0.1:4000/hooks");
  }
  const { config } = readConfig(undefined, settingsOf(options));
  const { client, description } = await connect(config);
  const secret = newSigningSecret();
  process.on("SIGINT", () => process.exit(0));
  process.on("SIGTERM", () => process.exit(0));
  console.log(`Forwarding events to ${forwardTo}\nSigning secret for this run: ${secret}`);
  let after: string | undefined;
  for (;;) {
    const answer = await poll(client, after, description);
    if (after === undefined) {
      console.log("Listening.");
    }
    after = answer.cursor;
    for (const event of answer.events) {
      console.log(await forwardEvent(event, forwardTo, secret));
    }
    if (answer.events.length === 0) {
      await sleep(pollMs);
    }
  }
}

/**
 * Connects to the service in the settings; otherwise to the owner of the data folder, or to the service on
 * the port.
 */
async function connect({ upstream, dataDir, host, port }: Config) {
  const settings = { userAgent: `tidings-listen/${version}`, retries: 0 };
  if (upstream) {
    return { client: createClient({ ...settings, ...upstream }), description: upstream.baseUrl };
  }
  const folder = await openDataFolder(dataDir);
  const verify = createVerifier(folder);
  const defaultUrl = toAddress(host, port);
  const client = createClient({
    ...settings,
    async baseUrl() {
      const owner = await folder.owner();
      const address = owner ? owner.address : defaultUrl;
      const proven = address && (await verify(address));
      if (!proven) {
        throw new Error("no server of the data folder answers");
      }
      return proven;
    },
    key: () => folder.credential(),
    isDirect: true,
  });
  return { client, description: `the folder ${dataDir}, or at ${defaultUrl}` };
}

/** A program under development may want any event. */
const types = webhookEvents.join(",");

/**
 * Retries while the service is unavailable; events from this time follow later.
 * @throws CallFailure when the service rejects the request.
 */
async function poll(client: Client, after: string | undefined, description: string) {
  for (let isAnnounced = false; ; isAnnounced = true) {
    try {
      const { data } = await client.call(webhooks.list_events, {
        types,
        ...(after === undefined ? {} : { after }),
      });
      return data;
    } catch (error) {
      if (error instanceof CallFailure && isRejection(error, after)) {
        throw error;
      }
      if (!isAnnounced) {
        console.log(`Waiting for the service at ${description}.`);
      }
      await sleep(pollMs);
    }
  }
}

/**
 * Whether retrying is useless. After a first response, an error that is not in our envelope comes from
 * another program.
 */
function isRejection({ status, error }: CallFailure, after: string | undefined): boolean {
  return status < 500 && status !== 429 && (error !== undefined || after === undefined);
}

/** Sends an event once. @returns one line with the result. */
async function forwardEvent(event: Event, url: string, secret: string): Promise<string> {
  const body = JSON.stringify(event);
  const now = new Date();
  const headers = signDelivery({ id: event.id, body, now, secrets: [secret] });
  const begin = performance.now();
  const outcome = await fetch(url, {
    method: "POST",
    headers,
    body,
    redirect: "manual",
    signal: AbortSignal.timeout(forwardTimeoutMs),
  }).then(
    async (answer) => {
      await answer.body?.cancel();
      return String(answer.status);
    },
    (error: Error) => `failed: ${error.cause instanceof Error ? error.cause.message : error.message}`,
  );
  const ms = Math.round(performance.now() - begin);
  return `${now.toISOString().slice(11, 19)}  ${event.type}  ${event.id}  ${outcome}  ${ms} ms`;
}
