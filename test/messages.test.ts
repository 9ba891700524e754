/** Messages: queued at once, handed over at most once, followed by their receipts. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { contacts } from "../tools/contacts.ts";
import { messages } from "../tools/messages/index.ts";
import { refusal } from "./support/failure.ts";
import { type House, openHouse } from "./support/house.ts";
import { phone, setFaults } from "./support/simulator.ts";

let house: House;
beforeAll(async () => {
  house = await openHouse();
});
afterAll(() => house[Symbol.asyncDispose]());
beforeEach(() => setFaults(house, {}));

const text = (to: string, body = "hello") =>
  house.call(messages.send_message, { to, type: "text", text: { body } });

async function follow({ data }: Awaited<ReturnType<typeof text>>) {
  const { id: message_id, conversation_id } = data;
  return (await house.call(messages.get_message, { message_id, conversation_id })).data;
}

test("a text is queued, sent, delivered and read, each with its time", async () => {
  const sent = await text("+14155550141");
  expect(sent.data).toMatchObject({ to: "+14155550141", type: "text", status: "queued" });
  expect(await follow(sent)).toMatchObject({ status: "queued", sent_at: null });
  await house.settle();
  expect(await follow(sent)).toMatchObject({ status: "sent", delivered_at: null });
  await house.turn(1000);
  expect(await follow(sent)).toMatchObject({ status: "delivered", read_at: null });
  await phone(house, "+14155550141").read();
  const read = await follow(sent);
  expect(read.status).toBe("read");
  expect([read.sent_at, read.delivered_at, read.read_at]).toEqual(
    [read.sent_at, read.delivered_at, read.read_at].sort(),
  );
});

test("a text to somebody who has not written is taken on the simulated channel, with a warning", async () => {
  expect((await text("+14155550142")).data.warnings).toEqual(["outside_service_window"]);
  await phone(house, "+14155550142").write("hi");
  expect((await text("+14155550142")).data).not.toHaveProperty("warnings");
});

test("a strict inbox refuses free text outside the window, and a queued one that waited past it", async () => {
  await setRule("strict");
  const refused = await refusal(text("+14155550143"));
  expect(refused).toMatchObject({ status: 422, code: "outside_service_window" });
  await phone(house, "+14155550143").write("hi");
  await setFaults(house, { failures: [{ code: 130429, share: 1 }] });
  const sent = await text("+14155550143");
  await house.settle();
  await setFaults(house, {});
  await house.turn(25 * 3_600_000);
  expect(await follow(sent)).toMatchObject({ status: "failed", error: { code: "outside_service_window" } });
  await setRule("advisory");
});

test("media travels by its address, and choices as they were checked", async () => {
  const to = "+14155550144";
  await house.call(messages.send_message, {
    to,
    type: "image",
    media_url: "https://example.com/cat.png",
    caption: "a cat",
  });
  await house.call(messages.send_message, {
    to,
    type: "interactive",
    interactive: { body: "Sure?", buttons: [{ id: "y", title: "Yes" }] },
  });
  await house.turn(1000);
  const shown = await phone(house, to).shows();
  expect(shown).toMatchObject([
    { type: "image", media: { url: "https://example.com/cat.png", caption: "a cat" } },
    { type: "interactive", interactive: { body: "Sure?", buttons: [{ id: "y", title: "Yes" }] } },
  ]);
  const { conversation_id } = await phone(house, to).write("", {
    text: undefined,
    reply: { id: "y", title: "Yes" },
  });
  const [latest] = (await house.call(messages.list_messages, { conversation_id })).data;
  expect(latest).toMatchObject({
    direction: "inbound",
    type: "interactive",
    reply: { id: "y", title: "Yes" },
  });
});

test.each([
  [{ type: "text" }, "text"],
  [{ type: "text", text: { body: "x".repeat(4097) } }, "text.body"],
  [{ type: "text", text: { body: " \n" } }, "text.body"],
  [{ type: "audio", media_url: "https://example.com/a.mp3", caption: "x" }, "caption"],
  [{ type: "image" }, "media_url"],
  [{ type: "image", media_url: "ftp://example.com/x" }, "media_url"],
  [{ type: "interactive", interactive: { body: "?" } }, "interactive.buttons"],
  [{ type: "carrier pigeon" }, "type"],
])("%j is refused by the field's name", async (input, field) => {
  const answer = await house.fetch("/v1/messages", {
    method: "POST",
    json: { to: "+14155550145", ...input },
  });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ error: { code: "invalid_request", param: field } });
});

test("messages of one conversation reach the phone in the order in which they were sent", async () => {
  const bodies = Array.from({ length: 30 }, (_, number) => `number ${number}`);
  for (const body of bodies) {
    await text("+14155550146", body);
  }
  await house.turn(1000);
  const shown = await phone(house, "+14155550146").shows();
  expect(shown.map((message) => message.text?.body)).toEqual(bodies);
});

test("a refusal of the channel fails the message and says what to do", async () => {
  await setFaults(house, { failures: [{ code: 131026, share: 1 }] });
  const sent = await text("+14155550147");
  await house.turn(1000);
  const failed = await follow(sent);
  expect(failed).toMatchObject({
    status: "failed",
    error: { code: "undeliverable", channel_code: 131026, retryable: false },
  });
  expect(failed.failed_at).not.toBeNull();
});

test("a busy channel is tried again until it takes the message, once", async () => {
  await setFaults(house, { failures: [{ code: 130429, share: 1 }] });
  const sent = await text("+14155550148");
  await house.turn(1000);
  expect(await follow(sent)).toMatchObject({ status: "queued", error: null });
  await setFaults(house, {});
  await house.turn(3_600_000);
  await house.turn(1000);
  expect((await follow(sent)).status).toBe("delivered");
  expect(await phone(house, "+14155550148").shows()).toHaveLength(1);
});

test("a lost answer is looked up, and the message is never sent twice", async () => {
  await setFaults(house, { lost_answers: 1 });
  const sent = await text("+14155550149");
  await house.settle();
  await setFaults(house, {});
  await house.turn(3_600_000);
  await house.turn(1000);
  expect((await follow(sent)).status).toBe("delivered");
  expect(await phone(house, "+14155550149").shows()).toHaveLength(1);
});

test("a message that was taken up before a crash is not sent to a contact erased since", async () => {
  const to = "+14155550154";
  const sent = await text(to);
  await claimAsIfCrashed(sent.data.id);
  const [contact] = (await house.call(contacts.list_contacts, { search: to })).data;
  await house.call(contacts.delete_contact, { id: contact?.id ?? "" });
  await house.settle();
  const row = await messageRow(sent.data.id);
  expect(row).toMatchObject({ status: "failed", error: { code: "recipient_erased" } });
  expect(await phone(house, to).shows()).toEqual([]);
});

test("a message that was taken up before a crash is not sent after its window has closed", async () => {
  const to = "+14155550155";
  await setRule("strict");
  await phone(house, to).write("hi");
  const sent = await text(to);
  await claimAsIfCrashed(sent.data.id);
  await house.app.database.queries
    .updateTable("conversations")
    .set({ last_user_message_at: new Date(house.now().getTime() - 25 * 3_600_000).toISOString() })
    .where("id", "=", sent.data.conversation_id)
    .execute();
  await house.settle();
  expect(await follow(sent)).toMatchObject({ status: "failed", error: { code: "outside_service_window" } });
  await setRule("advisory");
});

test("doubled, swapped and lost receipts leave the right state", async () => {
  await setFaults(house, { doubled_receipts: 1, swapped_receipts: 1 });
  const sent = await text("+14155550150");
  await house.turn(5000);
  await phone(house, "+14155550150").read();
  await house.turn(5000);
  expect((await follow(sent)).status).toBe("read");
  await setFaults(house, { lost_receipts: 1 });
  const lost = await text("+14155550150");
  await house.turn(5000);
  expect((await follow(lost)).status).toBe("sent");
});

test("a template that is not approved is refused by its name", async () => {
  const template = { name: "order_update", language: "en_US" };
  const call = house.call(messages.send_message, { to: "+14155550154", type: "template", template });
  const failure = await refusal(call);
  expect(failure).toMatchObject({ status: 422, code: "template_not_approved" });
  expect(failure.message).toContain("order_update");
});

test("the same inbound message twice is one message", async () => {
  const first = await phone(house, "+14155550151").write("hi", { channel_message_id: "sim_same" });
  const second = await phone(house, "+14155550151").write("hi", { channel_message_id: "sim_same" });
  expect(second).toEqual(first);
});

test("a message of another conversation is not found in this one", async () => {
  const { data: mine } = await text("+14155550152");
  const { data: other } = await text("+14155550153");
  const call = house.call(messages.get_message, {
    conversation_id: mine.conversation_id,
    message_id: other.id,
  });
  expect(await refusal(call)).toMatchObject({ status: 404, code: "message_not_found" });
});

/** What a process leaves that dies between its claim and the channel's answer. */
async function claimAsIfCrashed(id: string): Promise<void> {
  const claimed_at = house.now().toISOString();
  const { queries } = house.app.database;
  await queries.updateTable("messages").set({ status: "sending", claimed_at }).where("id", "=", id).execute();
}

function messageRow(id: string) {
  const { queries } = house.app.database;
  return queries.selectFrom("messages").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
}

async function setRule(service_window: string): Promise<void> {
  await house.app.database.queries
    .updateTable("inboxes")
    .set({ settings: JSON.stringify({ service_window }) })
    .execute();
}
