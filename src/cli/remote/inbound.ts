/** `tidings inbound`: a customer's message, through the controls of the simulated channel. */
import { z } from "zod";
import { one, operation } from "../../../tools/contract/index.ts";
import { CallFailure } from "../../client/index.ts";
import type { CommandOptions } from "../commands/options.ts";
import { describeValues, print } from "../commands/print.ts";
import { withClient } from "./connect.ts";

/** A route of the simulated channel, which is no operation of the API. It rejects real inboxes. */
const receive = operation({
  method: "POST",
  path: "/simulator/inbound",
  scope: "inbox:write",
  title: "Write as a customer",
  description: "Receive a message of a customer in a simulated inbox.",
  input: z.object({
    from: z.string(),
    to: z.string().optional(),
    name: z.string().optional(),
    text: z.string(),
  }),
  output: one(z.object({ message_id: z.string(), conversation_id: z.string() })),
});

export async function runInbound(options: CommandOptions, from: string, text: string): Promise<void> {
  const { name, inbox: to } = options;
  const { data } = await withClient(options, "inbound", async (client) => {
    try {
      return await client.call(receive, { from, to, name, text });
    } catch (error) {
      if (error instanceof CallFailure && error.code === "inbox_not_found") {
        throw new Error(
          `No simulated inbox has the number ${to}. tidings inbound writes to simulated inboxes alone.`,
        );
      }
      if (error instanceof CallFailure && error.code === "route_not_found") {
        throw new Error(
          "The service has no controls of the simulated channel: TIDINGS_SIMULATOR is off there.",
        );
      }
      throw error;
    }
  });
  print(options.json, data, () =>
    describeValues({ Message: data.message_id, Conversation: data.conversation_id }),
  );
}
