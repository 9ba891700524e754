/** Flows that events start: once for each, not by a flow's own doing, and not in another organization. */
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import type { Queries } from "../src/database/database.ts";
import { contacts } from "../tools/contacts.ts";
import { conversations } from "../tools/conversations.ts";
import { flows } from "../tools/flows/index.ts";
import { imports } from "../tools/imports.ts";
import { inboxes } from "../tools/inboxes.ts";
import { messages } from "../tools/messages/index.ts";
import { uploads } from "../tools/uploads.ts";
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
  const events = ["window.expiring"] as unknown as ["message.failed"];
  const subscribe = app.call(webhooks.create_webhook, { url: "https://example.com/hook", events });
  expect(await expectFailure(subscribe)).toMatchObject({ status: 400 });
});

test("a new conversation starts a flow, whoever begins it, and an old one does not", async () => {
  const flow = await on("conversation.created");
  const { number, conversation_id } = await write();
  await openPhone(app, number).write("again");
  await settle();
  expect(await startsOf(conversation_id, flow.id)).toBe(1);
  const { data: message } = await app.call(messages.send_message, {
    to: newNumber(),
    type: "text",
    text: { body: "hello" },
  });
  await settle();
  expect(await startsOf(message.conversation_id, flow.id)).toBe(1);
  await app.call(flows.delete_flow, { id: flow.id });
});

test("a new contact starts a flow in their conversation, or in one that is pending", async () => {
  const flow = await on("contact.created", [tag]);
  const { conversation_id } = await write();
  expect(await startsOf(conversation_id, flow.id)).toBe(1);
  const { data: contact } = await app.call(contacts.create_contact, { phone_number: newNumber() });
  await app.call(contacts.upsert_contact, { phone_number: contact.phone_number ?? "", name: "Ann" });
  await settle();
  const { data: runs } = await app.call(flows.list_flow_runs, { flow_id: flow.id });
  expect(runs).toHaveLength(2);
  expect(runs[0]).toMatchObject({ contact_id: contact.id, status: "completed" });
  const { data: conversation } = await app.call(conversations.get_conversation, {
    id: runs[0]?.conversation_id ?? "",
  });
  expect(conversation).toMatchObject({ status: "pending", tags: ["seen"] });
  await app.call(flows.delete_flow, { id: flow.id });
});

test("contacts of an import start no flow", async () => {
  const flow = await on("contact.created", [tag]);
  const content_base64 = Buffer.from(`phone\n${newNumber()}\n`).toString("base64");
  const { data: file } = await app.call(uploads.upload_file, { content_base64, file_name: "people.csv" });
  const { data: imported } = await app.call(imports.import_contacts, { upload_id: file.id });
  await settle();
  const { data: finished } = await app.call(imports.get_import, { id: imported.id });
  expect(finished).toMatchObject({ status: "done", created: 1 });
  const { meta } = await app.call(flows.list_flow_runs, { flow_id: flow.id });
  expect(meta.total).toBe(0);
  await app.call(flows.delete_flow, { id: flow.id });
});

test("a tag starts the flows of this tag and of every tag, in the latest conversation, once it was added", async () => {
  const any = await on("contact.tag_added");
  const vip = await create([say("x")], {
    trigger_type: "event",
    trigger_event_type: "contact.tag_added",
    trigger_keyword: undefined,
    settings: { tag: "VIP" },
  });
  expect(vip.settings).toEqual({ cohort_id: null, tag: "vip" });
  const { conversation_id } = await write();
  const { data } = await app.call(conversations.get_conversation, { id: conversation_id });
  const addTag = async (name: string) => {
    await app.call(contacts.tag_contact, { id: data.contact_id, add: [name] });
    await settle();
  };
  await addTag("new");
  expect([await startsOf(conversation_id, any.id), await startsOf(conversation_id, vip.id)]).toEqual([1, 0]);
  await addTag("vip");
  await addTag("vip");
  expect([await startsOf(conversation_id, any.id), await startsOf(conversation_id, vip.id)]).toEqual([2, 1]);
  const { data: unrestricted } = await app.call(flows.update_flow, {
    id: vip.id,
    trigger_event_type: "contact.created",
  });
  expect(unrestricted.settings.tag).toBeNull();
  await app.call(flows.delete_flow, { id: any.id });
  await app.call(flows.delete_flow, { id: vip.id });
});

test("a flow's tag starts no flow of tags", async () => {
  const tagged = await on("contact.tag_added");
  await create([{ id: "tag", node_type: "add_tag", action_config: { tag: "inner" } }], {
    trigger_keyword: "tagme",
  });
  const number = newNumber();
  const { conversation_id } = await openPhone(app, number).write("tagme");
  await settle();
  expect(await startsOf(conversation_id, tagged.id)).toBe(0);
  await app.call(flows.delete_flow, { id: tagged.id });
});

test("a contact's event starts nothing for a blocked contact", async () => {
  const flow = await on("contact.tag_added");
  const { data: contact } = await app.call(contacts.create_contact, { phone_number: newNumber() });
  await app.call(contacts.update_contact, { id: contact.id, blocked: true });
  await app.call(contacts.tag_contact, { id: contact.id, add: ["x"] });
  await settle();
  const { meta } = await app.call(flows.list_flow_runs, { flow_id: flow.id });
  expect(meta.total).toBe(0);
  await app.call(flows.delete_flow, { id: flow.id });
});

test("a flow of one inbox starts in the contact's conversation of that inbox", async () => {
  const { data: inbox } = await app.call(inboxes.create_inbox, {
    name: "Second",
    channel: "simulator",
    phone_number: newNumber(),
  });
  const flow = await create([say("x")], {
    trigger_type: "event",
    trigger_event_type: "contact.tag_added",
    trigger_keyword: undefined,
    inbox_id: inbox.id,
  });
  const { conversation_id } = await write();
  const { data } = await app.call(conversations.get_conversation, { id: conversation_id });
  await app.call(contacts.tag_contact, { id: data.contact_id, add: ["y"] });
  await settle();
  expect(await startsOf(conversation_id, flow.id)).toBe(0);
  const { data: runs } = await app.call(flows.list_flow_runs, { flow_id: flow.id });
  const started = await app.call(conversations.get_conversation, { id: runs[0]?.conversation_id ?? "" });
  expect(started.data).toMatchObject({ inbox_id: inbox.id, contact_id: data.contact_id });
  await app.call(flows.delete_flow, { id: flow.id });
});

describe("a window that expires", () => {
  const hour = 3_600_000;

  test("starts a flow two hours before its end, once, unless the contact writes again", async () => {
    const flow = await on("window.expiring");
    const silent = await write();
    const renewed = await write();
    const closed = await write();
    await app.call(conversations.update_conversation, { id: closed.conversation_id, status: "closed" });
    await app.advanceTime(21 * hour);
    await openPhone(app, renewed.number).write("still here");
    expect(await startsOf(silent.conversation_id, flow.id)).toBe(0);
    await app.advanceTime(hour);
    await app.advanceTime(60_000);
    await settle();
    const starts = [silent, renewed, closed].map((one) => startsOf(one.conversation_id, flow.id));
    expect(await Promise.all(starts)).toEqual([1, 0, 0]);
    await app.advanceTime(hour);
    expect(await startsOf(silent.conversation_id, flow.id)).toBe(1);
    await app.advanceTime(20 * hour);
    await settle();
    expect(await startsOf(renewed.conversation_id, flow.id)).toBe(1);
    await app.call(flows.delete_flow, { id: flow.id });
  });

  test("starts a flow late that was enabled later, but not after its end", async () => {
    const [early, late] = [await write(), await write()];
    await app.advanceTime(22.5 * hour);
    await openPhone(app, late.number).write("again");
    await app.advanceTime(hour);
    const flow = await on("window.expiring");
    await app.advanceTime(60_000);
    await settle();
    expect(await startsOf(early.conversation_id, flow.id)).toBe(1);
    await app.advanceTime(26 * hour);
    expect(await startsOf(late.conversation_id, flow.id)).toBe(0);
    await app.call(flows.delete_flow, { id: flow.id });
  });
});

test("fields of another type of trigger are rejected with their names", async () => {
  const event = { trigger_type: "event", trigger_event_type: "contact.created" } as const;
  const rejected = async (fields: Parameters<typeof create>[1]) =>
    (await expectFailure(create([say("x")], fields))).error;
  expect(await rejected({ ...event, trigger_keyword: "hi" })).toMatchObject({ param: "trigger_keyword" });
  expect(await rejected({ ...event, trigger_keyword: undefined, settings: { tag: "vip" } })).toMatchObject({
    param: "settings.tag",
  });
  expect(await rejected({ settings: { tag: "vip" } })).toMatchObject({ param: "settings.tag" });
});

/** What contacts and conversations look up before they emit an event. */
const listened = async () => {
  const { queries } = app.server.database;
  const rows = await queries.selectFrom("listened_events").select("type").orderBy("type").execute();
  return rows.map(({ type }) => type);
};

test("an event is listened to while an enabled flow reacts to it", async () => {
  const { queries } = app.server.database;
  await queries.deleteFrom("flows").execute();
  expect(await listened()).toEqual([]);
  const first = await on("contact.created");
  const second = await on("contact.created");
  expect(await listened()).toEqual(["contact.created"]);
  await app.call(flows.toggle_flow, { id: first.id });
  expect(await listened()).toEqual(["contact.created"]);
  await app.call(flows.delete_flow, { id: second.id });
  expect(await listened()).toEqual([]);
  await app.call(flows.toggle_flow, { id: first.id });
  expect(await listened()).toEqual(["contact.created"]);
});

test("it still is when its only flow is switched off while another one is switched on", {
  tags: "postgres",
}, async () => {
  const { database } = app.server;
  await database.queries.deleteFrom("flows").execute();
  const [off, next] = [await on("contact.created"), await on("contact.created")];
  const enable = (db: Queries, id: string, is_enabled: boolean) =>
    db.updateTable("flows").set({ is_enabled }).where("id", "=", id).execute();
  await enable(database.queries, next.id, false);
  const { later } = await database.transaction(async (tx) => {
    await enable(tx, next.id, true);
    const later = enable(database.queries, off.id, false);
    later.catch(() => undefined);
    await expect.poll(() => findWaiting(database.queries)).toBe(1);
    return { later };
  });
  await later;
  expect(await listened()).toEqual(["contact.created"]);
});

/** How many statements wait for an advisory lock. */
async function findWaiting(queries: Queries): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from pg_locks
    where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database())
  `.execute(queries);
  return rows[0]?.count ?? 0;
}
