/**
 * `tidings listen`: forwards the organization's events to a program under development, signed like webhooks.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { readConfig } from "../../config/index.ts";
import { type CommandOptions, settingsOf } from "../commands/options.ts";
import { connectToService, explainFailure } from "./connect.ts";
import { endWithReader, pollEvents, pollMs, readEventsOption } from "./events.ts";
import { describeForwarding, forwardEvent, keepSigningSecret, readReceiver } from "./forward.ts";

export async function runListen(options: CommandOptions): Promise<void> {
  const { "new-secret": isNew = false } = options;
  const types = readEventsOption(options.events);
  const forwardTo = readReceiver("listen", options["forward-to"]);
  const { config } = readConfig(undefined, settingsOf(options));
  const { client, description } = await connectToService(config, "listen");
  const secret = await keepSigningSecret(config.dataDir, { isNew });
  process.on("SIGINT", () => process.exit(0));
  process.on("SIGTERM", () => process.exit(0));
  console.log(`Forwarding events to ${forwardTo}\nSigning secret: ${secret}`);
  endWithReader();
  const onWait = () => console.log(`Waiting for the service at ${description}.`);
  let after: string | undefined;
  for (;;) {
    const position = after === undefined ? {} : { after };
    const answer = await pollEvents(client, { types, position, onWait }).catch((error: unknown) => {
      throw explainFailure(error, { description, isUpstream: config.upstream !== undefined });
    });
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
