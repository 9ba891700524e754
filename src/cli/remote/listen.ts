/**
 * `tidings listen`: forwards the organization's events to a program under development, signed like webhooks.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { webhookEvents, webhooks } from "../../../tools/webhooks.ts";
import { CallFailure, type Client } from "../../client/index.ts";
import { readConfig } from "../../config/index.ts";
import { type CommandOptions, settingsOf } from "../commands/options.ts";
import { connectToService } from "./connect.ts";
import { describeForwarding, forwardEvent, keepSigningSecret, readReceiver } from "./forward.ts";

/** Fast enough for interactive use; causes two requests per second. */
const pollMs = 500;

export async function runListen(options: CommandOptions): Promise<void> {
  const { events: types = webhookEvents.join(","), "new-secret": isNew = false } = options;
  const forwardTo = readReceiver("listen", options["forward-to"]);
  const { config } = readConfig(undefined, settingsOf(options));
  const { client, description } = await connectToService(config, "listen");
  const secret = await keepSigningSecret(config.dataDir, { isNew });
  process.on("SIGINT", () => process.exit(0));
  process.on("SIGTERM", () => process.exit(0));
  console.log(`Forwarding events to ${forwardTo}\nSigning secret: ${secret}`);
  let after: string | undefined;
  for (;;) {
    const answer = await poll(client, { types, after }, description);
    if (after === undefined) {
      console.log("Listening.");
    }
    after = answer.meta.cursor;
    for (const event of answer.data) {
      console.log(describeForwarding(event, await forwardEvent(event, forwardTo, secret)));
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
