/** `tidings explain`: why a message was sent, and all that happened to it. */
import { activity } from "../../../tools/activity.ts";
import type { OutputOf } from "../../../tools/contract/index.ts";
import type { CommandOptions } from "../commands/options.ts";
import { describeTable, describeValues, print } from "../commands/print.ts";
import { withClient } from "./connect.ts";

type History = OutputOf<typeof activity.explain_message>["data"];

export async function runExplain(options: CommandOptions, id: string): Promise<void> {
  const { data } = await withClient(options, "explain", (client) =>
    client.call(activity.explain_message, { id }),
  );
  print(options.json, data, () => [
    ...describeValues({
      Message: `${data.message.id} (${data.message.direction}, ${data.message.type})`,
      Status: data.message.status,
      ...describeWait(data.message.waiting_for),
      ...describeError(data.message.error),
      Conversation: data.message.conversation_id,
      Contact: data.contact_id,
      ...describeOrigin(data),
      ...describeAttempts(data.attempts),
    }),
    "",
    ...describeTable(["TIME", "WHAT HAPPENED"], listEvents(data)),
  ]);
}

/** Names and details come from other people, and could have control characters for the terminal. */
const quote = (text: string) => JSON.stringify(text);

function describeWait(waiting: History["message"]["waiting_for"]): Record<string, string> {
  if (waiting === undefined) {
    return {};
  }
  const { reason, since, next_attempt_at, last_error } = waiting;
  const next = next_attempt_at === null ? "" : `, next attempt at ${next_attempt_at}`;
  const error = last_error ? `, ${last_error.code}: ${quote(last_error.title)}` : "";
  return { "Waits for": `${reason}, since ${since}${next}${error}` };
}

function describeError(error: History["message"]["error"]): Record<string, string> {
  return error === null ? {} : { Error: `${error.code}: ${quote(error.title)}`, "What to do": error.hint };
}

function describeOrigin({ message: { sent_by }, call, reasons }: History): Record<string, string> {
  const { broadcast, flow, bot, plan, routing } = reasons;
  return {
    ...(sent_by !== null && { "Sent by": `${sent_by.type} ${sent_by.id} ${quote(sent_by.name)}` }),
    ...(call !== null && { Call: `${call.operation} ${call.tool === null ? "over REST" : "by MCP"}` }),
    ...(broadcast !== null && { Broadcast: `${broadcast.id} ${quote(broadcast.name)}` }),
    ...(flow !== null && { Flow: `${flow.flow_id}, run ${flow.run_id}, node ${flow.node_id}` }),
    ...(bot !== null && { Chatbot: `${bot.turn_id}, ${bot.sources.length} sources` }),
    ...(plan !== null && { Plan: `${plan.id} ${quote(plan.summary)}` }),
    ...(routing !== null && { Routing: quote(routing.explanation) }),
  };
}

function describeAttempts({
  refused,
  last_error,
  channel_message_id,
}: History["attempts"]): Record<string, string> {
  return {
    ...(channel_message_id !== null && { "Channel's id": quote(channel_message_id) }),
    ...(refused > 0 && { Refused: `${refused} times, the last with ${last_error?.code ?? "no reason"}` }),
  };
}

/** The call, the money, the channel's receipts and the webhooks, in the order of their times. */
function listEvents({ message, call, money, receipts, webhooks }: History): string[][] {
  const events = [
    { at: message.created_at, text: message.direction === "inbound" ? "received" : "accepted" },
    ...(call === null ? [] : [{ at: call.created_at, text: `${call.operation}: ${call.outcome}` }]),
    ...money.map(({ created_at, type, amount, currency, simulated }) => ({
      at: created_at,
      text: `${type} ${amount} ${currency}${simulated ? " (simulated money)" : ""}`,
    })),
    ...receipts.map(({ occurred_at, type, error }) => ({
      at: occurred_at,
      text: error === null ? type : `${type}: ${error.code}`,
    })),
  ].toSorted((a, b) => a.at.localeCompare(b.at));
  return [
    ...events.map(({ at, text }) => [at, text]),
    ...(webhooks ?? []).map(({ type, url, status, attempt_count, last_status_code }) => [
      "webhook",
      `${type} to ${quote(url)}: ${status}, attempts: ${attempt_count}, last status: ${last_status_code ?? "none"}`,
    ]),
  ];
}
