/** Leaves work in the queue that a service would do later, after it is stopped now. */
import type { TestApp } from "../../test/support/app.ts";
import { openPhone, setFaults } from "../../test/support/simulator.ts";
import type { DumpRecord } from "../../test/support/version-dumps.ts";
import { conversations } from "../../tools/conversations.ts";
import { ada, grace, mary, send } from "./fill.ts";

const hour = 3_600_000;

export type QueuedWork = Pick<
  DumpRecord,
  "request" | "queued_message" | "sent_message" | "snoozed_conversation"
>;

/** After this function no due job may run before the dump. */
export async function queueWork(app: TestApp): Promise<QueuedWork> {
  await setFaults(app, { receipt_delay_ms: hour });
  const sent = await send(app, grace, "You're welcome.");
  await app.runDueJobs();
  await setFaults(app, {});
  const snoozed_conversation = await snooze(app);
  await openPhone(app, ada).write("It has arrived!");
  const { request, queued } = await sendOnce(app);
  return {
    request,
    snoozed_conversation,
    queued_message: { id: queued.id, conversation_id: queued.conversation_id, to: ada },
    sent_message: { id: sent.id, conversation_id: sent.conversation_id, to: grace },
  };
}

async function snooze(app: TestApp): Promise<QueuedWork["snoozed_conversation"]> {
  const { data } = await app.call(conversations.list_conversations, {});
  const id = data.find(({ phone_number }) => phone_number === mary)?.id ?? "";
  const snoozed_until = new Date(app.now().getTime() + 6 * hour).toISOString();
  await app.call(conversations.update_conversation, { id, status: "snoozed", snoozed_until });
  return { id, snoozed_until };
}

/** Sends with an idempotency key, so that the response is stored. */
async function sendOnce(app: TestApp) {
  const body = { to: ada, type: "text", text: { body: "I'm glad to hear that." } };
  const [path, idempotency_key] = ["/v1/messages", "reply-1001"];
  const headers = { "idempotency-key": idempotency_key };
  const answer = await (await app.fetch(path, { method: "POST", json: body, headers })).text();
  const { data } = JSON.parse(answer) as { data: { id: string; conversation_id: string } };
  return { request: { path, idempotency_key, body, answer }, queued: data };
}
