/** `tidings inboxes`: the inboxes of the organization, and whether they can send. */
import { inboxes } from "../../../tools/inboxes.ts";
import type { CommandOptions } from "../commands/options.ts";
import { describeTable, print } from "../commands/print.ts";
import { withClient } from "./connect.ts";

export async function runInboxes(options: CommandOptions): Promise<void> {
  const { data } = await withClient(options, "list-inboxes", (client) =>
    client.call(inboxes.list_inboxes, {}),
  );
  print(options.json, data, () =>
    describeTable(
      ["ID", "NAME", "CHANNEL", "NUMBER", "HEALTH"],
      data.map(({ id, name, channel, phone_number, health }) => [
        id,
        name,
        channel,
        phone_number,
        health.reason === null ? health.status : `${health.status}: ${health.reason}`,
      ]),
    ),
  );
}
