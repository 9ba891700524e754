/**
 * `tidings listen`: forwards the organization's events to a program under development, signed like webhooks.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { webhookEvents, webhooks } from "../../../tools/webhooks.ts";
import { CallFailure, type Client } from "../../client/index.ts";
import { readConfig } from "../../config/index.ts";
import { newSigningSecret, signDelivery } from "../../platform/automation/webhooks/index.ts";
import { type CommandOptions, settingsOf } from "../commands/options.ts";
import { connectToService } from "./connect.ts";

/** Fast enough for interactive use; causes two requests per second. */
const pollMs = 500;
/** The timeout of a webhook delivery. */
const forwardTimeoutMs = 30_000;

interface Event {
  readonly id: string;
  readonly type: string;
}

export async function runListen(options: CommandOptions): Promise<void> {
  const { "forward-to": forwardTo, events: types = webhookEvents.join(",") } = options;
  if (forwardTo === undefined || !URL.canParse(forwardTo) || !/^https?:$/.test(new URL(forwardTo).protocol)) {
    throw new Error("tidings listen takes an address: --forward-to http://127.0.0.1:4000/hooks");
  }
  const { config } = readConfig(undefined, settingsOf(options));
  const { client, description } = await connectToService(config, "listen");
  const secret = newSigningSecret();
  process.on("SIGINT", () => process.exit(0));
  process.on("SIGTERM", () => process.exit(0));
  console.log(`Forwarding events to ${forwardTo}\nSigning secret for this run: ${secret}`);
  let after: string | undefined;
  for (;;) {
    const answer = await poll(client, { types, after }, description);
    if (after === undefined) {
      console.log("Listening.");
    }
    after = answer.meta.cursor;
    for (const event of answer.data) {
      console.log(await forwardEvent(event, forwardTo, secret));
    }
    if (answer.data.length === 0) {
      await sleep(pollMs);
    }
  }
}

/** The events that are wanted next. */
interface Position {
  /** Separated by commas. */
  readonly types: string;
  /** The last cursor. */
  readonly after: string | undefined;
}

/**
 * Retries while the service is unavailable; events from this time follow later.
 * @throws CallFailure when the service rejects the request.
 */
async function poll(client: Client, { types, after }: Position, description: string) {
  for (let isAnnounced = false; ; isAnnounced = true) {
    try {
      return await client.call(webhooks.list_events, {
        types,
        ...(after === undefined ? {} : { after }),
      });
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
