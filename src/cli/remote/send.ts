/** `tidings send`: sends a text message. */
import type { OutputOf } from "../../../tools/contract/index.ts";
import { messages } from "../../../tools/messages/index.ts";
import { CommandError } from "../commands/command-error.ts";
import type { CommandOptions } from "../commands/options.ts";
import { describeValues, print } from "../commands/print.ts";
import { withClient } from "./connect.ts";

/** Long enough for most deliveries, and short enough to wait for at a terminal. */
const waitSeconds = 10;

/** @throws CommandError if the message failed, after the message was printed. */
export async function runSend(options: CommandOptions, to: string, text: string): Promise<void> {
  const input = { to, type: "text", text: { body: text }, wait_seconds: waitSeconds } as const;
  const { data } = await withClient(options, "send", (client) => client.call(messages.send_message, input));
  print(options.json, data, () => [
    ...describeValues({
      Message: data.id,
      To: data.to ?? to,
      Status: data.error === null ? data.status : `${data.status}: ${data.error.title}`,
      Conversation: data.conversation_id,
      Simulated: data.simulated ? "yes: no phone receives it" : "no",
    }),
    ...(data.warnings ?? []).map((code) => `Warning: ${code}`),
  ]);
  if (data.status === "failed") {
    throw failedMessage(data);
  }
}

type SentMessage = OutputOf<typeof messages.send_message>["data"];

function failedMessage({ id, error }: Pick<SentMessage, "id" | "error">): CommandError {
  const { title = "The channel gave no reason.", hint = "" } = error ?? {};
  return new CommandError(`The message failed: ${title} ${hint}`.trim(), {
    facts: { code: error?.code ?? "message_failed", fix: hint, message_id: id },
  });
}
