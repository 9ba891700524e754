/** `tidings trigger`: sends an example of an event to a program under development. */
import { randomUUID } from "node:crypto";
import { eventExamples } from "../../../tools/event-examples.ts";
import type { PublicEventName } from "../../../tools/events.ts";
import { readConfig } from "../../config/index.ts";
import { type CommandOptions, settingsOf } from "../commands/options.ts";
import { print } from "../commands/print.ts";
import { UsageError } from "../commands/usage-error.ts";
import { describeUnknownEvent } from "./events.ts";
import { describeForwarding, forwardEvent, keepSigningSecret, readReceiver } from "./forward.ts";

export async function runTrigger(options: CommandOptions, type: string): Promise<void> {
  const url = readReceiver("trigger", options["forward-to"]);
  if (!isEvent(type)) {
    throw new UsageError(describeUnknownEvent(type));
  }
  const { config } = readConfig(undefined, settingsOf(options));
  const secret = await keepSigningSecret(config.dataDir, { isNew: false });
  const event = {
    id: `evt_test_${randomUUID().replaceAll("-", "")}`,
    type,
    organization_id: "org_01m7zc81jq1d3bq0c4k8p7x2ms",
    created_at: new Date().toISOString(),
    data: eventExamples[type].data,
  };
  const forwarding = await forwardEvent(event, url, secret);
  print(options.json, { event, ...forwarding }, () => [describeForwarding(event, forwarding)]);
  if (forwarding.status_code === null || forwarding.status_code >= 300) {
    process.exitCode = 1;
  }
}

function isEvent(name: string): name is PublicEventName {
  return Object.hasOwn(eventExamples, name);
}
