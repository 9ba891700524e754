/** Stored events: read by a cursor, each once, deleted with their contact or after 30 days. */
import { expect, test } from "vitest";
import { contacts } from "../tools/contacts.ts";
import { conversations } from "../tools/conversations.ts";
import { webhookEvents, webhooks } from "../tools/webhooks.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { findColumns } from "./support/find-columns.ts";
import { iterations } from "./support/iterations.ts";
import { openPhone } from "./support/simulator.ts";
import { startWebhookReceiver } from "./support/webhook-receiver.ts";

const [hour, day] = [3_600_000, 24 * 3_600_000];

const app = useTestApp({ env: { TIDINGS_ALLOW_LOCAL_WEBHOOKS: "true" } });

const write = (text: string) => openPhone(app, "+14155550151").write(text);

test("events are read in order by a cursor, each once, and deleted after 30 days", {}, async () => {
  const start = await app.call(webhooks.list_events, {});
  await write("one");
  const first = await app.call(webhooks.list_events, { after: start.meta.cursor });
  await write("two");
  const second = await app.call(webhooks.list_events, { after: first.meta.cursor });
  const texts = [first, second].map(({ data }) => data.map((event) => event.data.text));
  expect(texts).toEqual([[{ body: "one" }], [{ body: "two" }]]);
  expect((await app.call(webhooks.list_events, { after: second.meta.cursor })).data).toEqual([]);
  await app.advanceTime(30 * day + hour);
  expect((await app.call(webhooks.list_events, { after: start.meta.cursor })).data).toEqual([]);
});

test("an erased contact's events are deleted, also pending ones", async () => {
  await using receiver = await startWebhookReceiver();
  const input = { url: receiver.url, events: webhookEvents };
  const { id, signing_secret } = (await app.call(webhooks.create_webhook, input)).data;
  receiver.secret = signing_secret;
  const { meta: start } = await app.call(webhooks.list_events, {});
  const { conversation_id } = await write("a secret");
  const { data } = await app.call(conversations.get_conversation, { id: conversation_id });
  await app.call(contacts.delete_contact, { id: data.contact_id });
  await app.runDueJobs();
  expect(receiver.received).toEqual([]);
  expect((await app.call(webhooks.list_webhook_deliveries, { id })).data).toEqual([]);
  expect((await app.call(webhooks.list_events, { after: start.cursor })).data).toEqual([]);
});

test("events of an erased contact without a conversation are hidden, and deleted with their deliveries", async () => {
  await using receiver = await startWebhookReceiver();
  const types = ["contact.created", "contact.tag_added"] as const;
  const input = { url: receiver.url, events: [...types] };
  const { id, signing_secret } = (await app.call(webhooks.create_webhook, input)).data;
  receiver.secret = signing_secret;
  // Repeats what it received: the log of its deliveries has it too.
  receiver.respond = ({ body }) => ({ status: 500, body });
  const { meta: start } = await app.call(webhooks.list_events, {});
  const list = async () =>
    (await app.call(webhooks.list_events, { after: start.cursor, types: types.join(",") })).data;
  const person = { phone_number: "+14155550152", name: "Marker Lin" };
  const { data: contact } = await app.call(contacts.create_contact, person);
  await app.call(contacts.tag_contact, { id: contact.id, add: ["marker vip"] });
  await app.runDueJobs();
  expect((await list()).map(({ type }) => type)).toEqual(types);
  const personal = ["4155550152", "Marker Lin", "marker vip"];
  const { queries } = app.server.database;
  const stored = await findColumns(queries, personal);
  expect(stored).toEqual(expect.arrayContaining(["events.body", "webhook_deliveries.attempts"]));
  await app.call(contacts.delete_contact, { id: contact.id });
  expect(await list()).toEqual([]);
  const received = receiver.received.length;
  await app.runDueJobs();
  expect(await findColumns(queries, personal)).toEqual([]);
  await app.advanceTime(day);
  expect(receiver.received.length).toBe(received);
  expect((await app.call(webhooks.list_webhook_deliveries, { id })).data).toEqual([]);
});

test("events are read in pages of 100, and an invalid cursor is rejected", async () => {
  let after = (await app.call(webhooks.list_events, {})).meta.cursor;
  const fullPages = iterations(1, 2);
  const count = fullPages * 100 + 10;
  for (let number = 0; number < count; number += 1) {
    await write(`number ${number}`);
  }
  const sizes: number[] = [];
  const seen = new Set<string>();
  for (let round = 0; round < fullPages + 2; round += 1) {
    const { data, meta } = await app.call(webhooks.list_events, { after });
    after = meta.cursor;
    sizes.push(data.length);
    for (const { id } of data) {
      seen.add(id);
    }
  }
  expect([sizes, seen.size]).toEqual([[...Array(fullPages).fill(100), 10, 0], count]);
  for (const cursor of ["x", "5:4:", "1:9:7,3", "1:9:/x", `1:9:/1:9:/${"9".repeat(30)}.evt_1`]) {
    expect(await expectFailure(app.call(webhooks.list_events, { after: cursor })), cursor).toMatchObject({
      status: 400,
      code: "invalid_cursor",
    });
  }
});
