/** `tidings trigger`: sends an example of an event to webhooks, or to a program under development. */
import { randomUUID } from "node:crypto";
import { eventEnvelope, testDataOf } from "../../../tools/event-examples.ts";
import { isPublicEvent, type PublicEventName } from "../../../tools/events.ts";
import { readConfig } from "../../config/index.ts";
import { UsageError } from "../commands/command-error.ts";
import { type CommandOptions, settingsOf } from "../commands/options.ts";
import { print } from "../commands/print.ts";
import { describeUnknownEvent } from "./events.ts";
import { describeForwarding, forwardEvent, keepSigningSecret, readReceiver } from "./forward.ts";
import { triggerWebhooks } from "./trigger-webhooks.ts";

export async function runTrigger(options: CommandOptions, type: string): Promise<void> {
  if (!isPublicEvent(type)) {
    throw new UsageError(describeUnknownEvent(type));
  }
  const trigger = options["forward-to"] === undefined ? triggerWebhooks : forwardExample;
  if (!(await trigger(options, type))) {
    process.exitCode = 1;
  }
}

/** Returns whether the program accepted the event. */
async function forwardExample(options: CommandOptions, type: PublicEventName): Promise<boolean> {
  const url = readReceiver("trigger", options["forward-to"]);
  const { config } = readConfig(undefined, settingsOf(options));
  const secret = await keepSigningSecret(config.dataDir, { isNew: false });
  const event = {
    id: `evt_test_${randomUUID().replaceAll("-", "")}`,
    type,
    organization_id: eventEnvelope.organization_id,
    created_at: new Date().toISOString(),
    data: testDataOf(type),
  };
  const forwarding = await forwardEvent(event, url, secret);
  print(options.json, { event, ...forwarding }, () => [describeForwarding(event, forwarding)]);
  return forwarding.status_code !== null && forwarding.status_code < 300;
}
