/** Events on demand: recorded from the moment when something wants them, and with their actor. */
import { beforeEach, expect, test } from "vitest";
import { contacts } from "../tools/contacts.ts";
import { conversations } from "../tools/conversations.ts";
import { flows } from "../tools/flows/index.ts";
import { messages } from "../tools/messages/index.ts";
import { webhooks } from "../tools/webhooks.ts";
import { ownerKey, type TestApp, useTestApp } from "./support/app.ts";
import { connectAssistant } from "./support/assistant.ts";
import { createFlowHelpers, type NewNode, say } from "./support/flows.ts";
import { createOrganizationFor } from "./support/operator.ts";
import { createPaymentHelpers } from "./support/payments.ts";
import { openPhone } from "./support/simulator.ts";

const app = useTestApp();
const { create, runsOf } = createFlowHelpers(app);
const day = 24 * 3_600_000;

beforeEach(async () => {
  await app.server.database.queries.deleteFrom("polled_events").execute();
});

const url = "https://example.com/hooks";

let numbers = 0;
const newNumber = () => `+1415555${String(7000 + ++numbers)}`;

const cursorOf = async (types: string) => (await app.call(webhooks.list_events, { types })).meta.cursor;
const eventsAfter = async (after: string, types: string) =>
  (await app.call(webhooks.list_events, { after, types })).data;

async function addContact() {
  return (await app.call(contacts.create_contact, { phone_number: newNumber(), name: "Ada" })).data;
}

const listened = async () => {
  const { queries } = app.server.database;
  const rows = await queries.selectFrom("listened_events").select("type").orderBy("type").execute();
  return rows.map(({ type }) => type);
};

test("without a listener nothing is recorded; naming a type starts its recording, for 7 days", async () => {
  const { cursor } = (await app.call(webhooks.list_events, {})).meta;
  await addContact();
  expect(await listened()).toEqual([]);
  expect(await eventsAfter(cursor, "contact.created,message.sent")).toEqual([]);
  expect(await listened()).toEqual(["contact.created"]);
  const { id } = await addContact();
  expect(await eventsAfter(cursor, "contact.created")).toMatchObject([{ data: { contact_id: id } }]);
  await app.advanceTime(6 * day);
  await cursorOf("contact.created");
  await app.advanceTime(6 * day);
  expect(await listened()).toEqual(["contact.created"]);
  await app.advanceTime(day + 3_600_000);
  expect(await listened()).toEqual([]);
});

test("a webhook wants its events until they are changed or it is deleted, also while it is disabled", async () => {
  const { data } = await app.call(webhooks.create_webhook, { url, events: ["conversation.closed"] });
  const { id } = data;
  expect(await listened()).toEqual(["conversation.closed"]);
  await app.call(webhooks.update_webhook, { id, is_active: false });
  expect(await listened()).toEqual(["conversation.closed"]);
  await app.call(webhooks.update_webhook, { id, events: ["contact.created"] });
  expect(await listened()).toEqual(["contact.created"]);
  const flow = await create([say("x")], {
    trigger_type: "event",
    trigger_event_type: "contact.created",
    trigger_keyword: undefined,
  });
  await app.call(webhooks.delete_webhook, { id });
  expect(await listened()).toEqual(["contact.created"]);
  await app.call(flows.delete_flow, { id: flow.id });
  expect(await listened()).toEqual([]);
});

test("what one organization wants is not recorded in another", async () => {
  const { key } = await createOrganizationFor(app, "Neighbours");
  const { cursor } = (await app.call(webhooks.list_events, { types: "contact.created" }, { key })).meta;
  await addContact();
  const { cursor: own } = (await app.call(webhooks.list_events, {})).meta;
  expect(await eventsAfter(own, "contact.created")).toEqual([]);
  await app.call(contacts.create_contact, { phone_number: newNumber() }, { key });
  const { data } = await app.call(webhooks.list_events, { after: cursor, types: "contact.created" }, { key });
  expect(data).toHaveLength(1);
});

test("each event names its actor: a key, a flow, or the service for a contact who writes", async () => {
  const types = "conversation.closed,conversation.opened,contact.tag_added";
  const { cursor } = (await app.call(webhooks.list_events, { types })).meta;
  const nodes: NewNode[] = [
    { id: "tag", node_type: "add_tag", action_config: { tag: "vip" } },
    { id: "close", parent_node_id: "tag", node_type: "set_status", action_config: { status: "closed" } },
  ];
  const acting = await create(nodes, { name: "Closing", trigger_keyword: "bye" });
  const started = await Promise.all(
    (["conversation.closed", "contact.tag_added"] as const).map((trigger_event_type) =>
      create([say("x")], { trigger_type: "event", trigger_event_type, trigger_keyword: undefined }),
    ),
  );
  const phone = openPhone(app, newNumber());
  const { conversation_id: id } = await phone.write("bye");
  await settle(app);
  await phone.write("one more thing");
  await settle(app);
  await app.call(conversations.update_conversation, { id, status: "closed" });
  const events = await eventsAfter(cursor, types);
  const actor = { type: "flow", id: acting.id, name: "Closing" };
  expect(events).toMatchObject([
    { type: "contact.tag_added", data: { tags: ["vip"], actor } },
    { type: "conversation.closed", data: { conversation_id: id, status: "closed", actor } },
    { type: "conversation.opened", data: { actor: { type: "system" } } },
    { type: "conversation.closed", data: { actor: { type: "api_key", name: "First key" } } },
  ]);
  await settle(app);
  const runs = await runsOf(id);
  expect(runs.map(({ flow_id }) => flow_id)).toEqual([acting.id, started[0]?.id]);
  await Promise.all([acting, ...started].map((flow) => app.call(flows.delete_flow, { id: flow.id })));
});

async function settle({ advanceTime }: TestApp) {
  for (let step = 0; step < 3; step += 1) {
    await advanceTime(1_000);
  }
}

test("a changed contact is reported with what was set, consent and block, also by a stop word and a flow", async () => {
  const types = "contact.updated";
  const { data: assistant } = await app.call(contacts.create_contact, { phone_number: newNumber() });
  const cursor = await cursorOf(types);
  const { id } = assistant;
  await app.call(contacts.update_contact, { id, name: "Ada", opted_out: true });
  await app.call(contacts.update_contact, { id, blocked: true, blocked_reason: "Asked for it" });
  await app.call(contacts.tag_contact, { id, add: ["vip"] });
  await app.call(contacts.tag_contact, { id, add: ["vip"] });
  const phone = openPhone(app, newNumber());
  await phone.write("Hello", { name: "Grace" });
  const afterFirst = await cursorOf(types);
  await phone.write("STOP");
  await phone.write("STOP");
  const nodes: NewNode[] = [{ id: "tag", node_type: "add_tag", action_config: { tag: "lead" } }];
  const flow = await create(nodes, { name: "Tagging", trigger_keyword: "offer" });
  await phone.write("offer");
  await settle(app);
  const key = { type: "api_key", name: "First key" };
  expect((await eventsAfter(cursor, types)).slice(0, 3)).toMatchObject([
    { data: { contact_id: id, fields: ["name", "opted_out"], opted_out: true, blocked: false, actor: key } },
    { data: { contact_id: id, fields: ["blocked"], opted_out: true, blocked: true } },
    { data: { contact_id: id, fields: ["tags"], opted_out: true, blocked: true } },
  ]);
  expect(await eventsAfter(afterFirst, types)).toMatchObject([
    { data: { fields: ["opted_out"], opted_out: true, blocked: false, actor: { type: "system" } } },
    { data: { fields: ["tags"], opted_out: true, actor: { type: "flow", id: flow.id } } },
  ]);
  await app.call(flows.delete_flow, { id: flow.id });
});

test("a changed conversation is reported with what changed, and not if nothing did", async () => {
  const types = "conversation.updated";
  const { conversation_id: id } = await openPhone(app, newNumber()).write("Hello");
  const cursor = await cursorOf(types);
  await app.call(conversations.update_conversation, { id, is_favorite: true, add_tags: ["billing"] });
  await app.call(conversations.update_conversation, { id, is_favorite: true, add_tags: ["billing"] });
  await app.call(conversations.update_conversation, { id, status: "snoozed" });
  await app.call(conversations.update_conversation, { id, is_unread: false });
  expect(await eventsAfter(cursor, types)).toMatchObject([
    { data: { conversation_id: id, fields: ["tags", "is_favorite"], status: "open" } },
    { data: { fields: ["status"], status: "snoozed" } },
    { data: { fields: ["is_unread"] } },
  ]);
});

test("a change of a contact or a conversation costs no statement more without a listener", async () => {
  const { id } = await addContact();
  const { conversation_id } = await openPhone(app, newNumber()).write("Hello");
  const cost = async (act: () => Promise<unknown>) => {
    const before = app.server.database.pool().statements;
    await act();
    return app.server.database.pool().statements - before;
  };
  const costs = async () => [
    await cost(() => app.call(contacts.update_contact, { id, name: `Ada ${++numbers}` })),
    await cost(() =>
      app.call(conversations.update_conversation, { id: conversation_id, add_tags: [`t${++numbers}`] }),
    ),
  ];
  const without = await costs();
  await cursorOf("contact.updated,conversation.updated");
  expect(await costs()).toEqual(without.map((statements) => statements + 1));
});

test("an event of a payment shows what list_payments shows, and neither signature nor key", async () => {
  const { cursor } = (await app.call(webhooks.list_events, {})).meta;
  const shop = createPaymentHelpers(app);
  const order = await shop.order(20);
  const checkout = await shop.pay(order.order_id);
  await shop.verify(checkout);
  const [listed] = (await shop.list()).payments;
  const { id: payment_id, created_at: _, ...shown } = listed ?? {};
  const [event] = await eventsAfter(cursor, "payment.captured");
  expect(event?.data).toEqual({ payment_id, ...shown, simulated: true, credited: true });
  expect(JSON.stringify(event)).not.toContain(checkout.processor_signature);
  expect(JSON.stringify(event)).not.toContain(order.processor_key_id);
});

test("a message to a new contact costs no statement more without a listener, and two where one polls", async () => {
  const cost = async () => {
    const before = app.server.database.pool().statements;
    const text = { body: "Hello" };
    await app.call(messages.send_message, { to: newNumber(), type: "text", text });
    return app.server.database.pool().statements - before;
  };
  expect(await listened()).toEqual([]);
  await cost();
  const without = await cost();
  await cursorOf("contact.created,conversation.created");
  // The events are recorded, and flows that start with them are looked up.
  expect(await cost()).toBe(without + 2);
});

test("an assistant polls the events through the gateway", async () => {
  await using assistant = await connectAssistant(app, ownerKey);
  const list = async (more: object) => {
    const args = { name: "list_events", arguments: { types: "contact.created", ...more } };
    const { structuredContent } = await assistant.client.callTool({ name: "run_read_tool", arguments: args });
    // The output schema of list_events.
    return structuredContent as { data: unknown[]; meta: { cursor: string } };
  };
  const { cursor: after } = (await list({})).meta;
  const { id } = await addContact();
  expect((await list({ after })).data).toMatchObject([{ data: { contact_id: id, name: "Ada" } }]);
});
