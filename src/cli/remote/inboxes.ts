/** `tidings inboxes list` and `show`: the inboxes of the organization, and whether they can send. */
import type { OutputOf } from "../../../tools/contract/index.ts";
import { inboxes } from "../../../tools/inboxes.ts";
import type { CommandOptions } from "../commands/options.ts";
import { describeTable, describeValues, print } from "../commands/print.ts";
import { withClient } from "./connect.ts";

type Inbox = OutputOf<typeof inboxes.list_inboxes>["data"][number];

export async function runListInboxes(options: CommandOptions): Promise<void> {
  const data = await readInboxes(options, "inboxes list");
  print(options.json, data, () =>
    describeTable(
      ["ID", "NAME", "CHANNEL", "SIMULATED", "NUMBER", "HEALTH"],
      data.map(({ id, name, channel, simulated, phone_number, health }) => [
        id,
        name,
        channel,
        simulated ? "yes" : "no",
        phone_number,
        describeHealth(health),
      ]),
    ),
  );
}

/** @throws Error if the organization has no inbox with this id. */
export async function runShowInbox(options: CommandOptions, id: string): Promise<void> {
  const inbox = (await readInboxes(options, "inboxes show")).find((each) => each.id === id);
  if (!inbox) {
    throw new Error(
      `The organization has no inbox ${JSON.stringify(id)}. Find its id with: tidings inboxes list`,
    );
  }
  print(options.json, inbox, () =>
    describeValues({
      Id: inbox.id,
      Name: inbox.name,
      Channel: inbox.channel,
      Simulated: inbox.simulated ? "yes" : "no",
      Number: inbox.phone_number,
      Health: describeHealth(inbox.health),
      ...(inbox.health.since !== null && { Since: inbox.health.since }),
      ...(inbox.limits && describeLimits(inbox.limits)),
      ...(inbox.callback_url !== null && { "Callback URL": inbox.callback_url }),
      ...(!inbox.simulated && { "Last webhook": inbox.last_webhook_at ?? "none yet" }),
      Created: inbox.created_at,
    }),
  );
}

async function readInboxes(options: CommandOptions, command: string): Promise<readonly Inbox[]> {
  const { data } = await withClient(options, command, (client) => client.call(inboxes.list_inboxes, {}));
  return data;
}

/** The reason is the channel's text, which could have control characters for the terminal. */
function describeHealth({ status, reason }: Inbox["health"]): string {
  return reason === null ? status : `${status}: ${JSON.stringify(reason)}`;
}

function describeLimits({ messaging_limit, quality, messages_per_second }: NonNullable<Inbox["limits"]>) {
  return {
    "People a day": messaging_limit === null ? "any number" : String(messaging_limit),
    Quality: quality ?? "unknown",
    "Messages per second": messages_per_second === null ? "unknown" : String(messages_per_second),
  };
}
