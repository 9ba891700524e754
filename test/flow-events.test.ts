/** Flows that events start: once for each, not by a flow's own doing, and not in another organization. */
import { expect, test } from "vitest";
import { conversations } from "../tools/conversations.ts";
import { flows } from "../tools/flows/index.ts";
import { messages } from "../tools/messages/index.ts";
import { users } from "../tools/users.ts";
import { webhooks } from "../tools/webhooks.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { createFlowHelpers, say } from "./support/flows.ts";
import { createOrganizationFor } from "./support/operator.ts";
import { openPhone, setFaults } from "./support/simulator.ts";

const app = useTestApp();
const { create, runsOf } = createFlowHelpers(app);
let numbers = 0;
const newNumber = () => `+1415558${String(++numbers).padStart(4, "0")}`;

const settle = async () => {
  for (let step = 0; step < 3; step += 1) {
    await app.advanceTime(1_000);
  }
};

type TriggerEvent = NonNullable<Parameters<typeof create>[1]>["trigger_event_type"];
const on = (trigger_event_type: TriggerEvent, nodes = [say("x")]) =>
  create(nodes, { trigger_type: "event", trigger_event_type, trigger_keyword: undefined });

const tag = { id: "tag", node_type: "add_tag", action_config: { tag: "seen", on: "conversation" } } as const;

async function write() {
  const number = newNumber();
  const { conversation_id } = await openPhone(app, number).write("hello");
  await settle();
  return { number, conversation_id };
}

const startsOf = async (conversation_id: string, flow_id: string) =>
  (await runsOf(conversation_id)).filter((run) => run.flow_id === flow_id).length;

test("closing and opening a conversation start their flows, once for each change", async () => {
  const closed = await on("conversation.closed", [say("Bye")]);
  const opened = await on("conversation.opened", [say("Back")]);
  const { conversation_id } = await write();
  const update = (status: "closed" | "open") =>
    app.call(conversations.update_conversation, { id: conversation_id, status });
  await update("closed");
  await update("closed");
  await settle();
  expect(await startsOf(conversation_id, closed.id)).toBe(1);
  expect(await startsOf(conversation_id, opened.id)).toBe(0);
  await update("open");
  await settle();
  expect(await startsOf(conversation_id, opened.id)).toBe(1);
  expect(await startsOf(conversation_id, closed.id)).toBe(1);
  await app.call(flows.delete_flow, { id: closed.id });
  await app.call(flows.delete_flow, { id: opened.id });
});

test("assigning a conversation to another agent starts a flow", async () => {
  const flow = await on("conversation.assigned");
  const { conversation_id } = await write();
  const { data } = await app.call(users.list_users, {});
  const assigned_to = data[0]?.id ?? "";
  await app.call(conversations.assign_conversation, { id: conversation_id, assigned_to });
  await app.call(conversations.unassign_conversation, { id: conversation_id });
  await settle();
  expect(await startsOf(conversation_id, flow.id)).toBe(1);
  await app.call(flows.delete_flow, { id: flow.id });
});

test("what a flow does starts no flow", async () => {
  const closing = await on("message.received", [
    { id: "close", node_type: "set_status", action_config: { status: "closed" } },
  ]);
  const closed = await on("conversation.closed");
  const { conversation_id } = await write();
  const { data } = await app.call(conversations.get_conversation, { id: conversation_id });
  expect(data.status).toBe("closed");
  expect(await startsOf(conversation_id, closing.id)).toBe(1);
  expect(await startsOf(conversation_id, closed.id)).toBe(0);
  await app.call(flows.delete_flow, { id: closing.id });
  await app.call(flows.delete_flow, { id: closed.id });
});

test("a message that failed starts a flow, but not one that a flow sent", async () => {
  const failed = await on("message.failed", [tag]);
  const { number, conversation_id } = await write();
  await setFaults(app, { failures: [{ code: 131026, share: 1 }] });
  await app.call(messages.send_message, { to: number, type: "text", text: { body: "hello" } });
  await settle();
  expect(await startsOf(conversation_id, failed.id)).toBe(1);
  const sending = await create([say("hello")], { trigger_keyword: "send" });
  await openPhone(app, number).write("send");
  await settle();
  await setFaults(app, {});
  expect(await startsOf(conversation_id, sending.id)).toBe(1);
  expect(await startsOf(conversation_id, failed.id)).toBe(1);
  await app.call(flows.delete_flow, { id: failed.id });
});

test("a change in another organization starts nothing", async () => {
  const flow = await on("conversation.closed");
  const { key } = await createOrganizationFor(app, "Neighbours");
  const { conversation_id: id } = await openPhone(app, newNumber(), key).write("hello");
  await app.call(conversations.update_conversation, { id, status: "closed" }, { key });
  await settle();
  const { meta } = await app.call(flows.list_flow_runs, { flow_id: flow.id });
  expect(meta.total).toBe(0);
  await app.call(flows.delete_flow, { id: flow.id });
});

test("a webhook can't subscribe to the events of flows alone", async () => {
  const events = ["conversation.closed"] as unknown as ["message.failed"];
  const subscribe = app.call(webhooks.create_webhook, { url: "https://example.com/hook", events });
  expect(await expectFailure(subscribe)).toMatchObject({ status: 400 });
});
