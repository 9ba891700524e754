/** The warnings of a conversation's context: a blocked contact, an opt-out, a request to stop. */
import { expect, test } from "vitest";
import { contacts } from "../tools/contacts.ts";
import type { InputOf } from "../tools/contract/index.ts";
import { inboxes } from "../tools/inboxes.ts";
import { messages } from "../tools/messages/index.ts";
import { useTestApp } from "./support/app.ts";
import { openPhone } from "./support/simulator.ts";

const app = useTestApp();

let last = 5_550_560;
const newNumber = () => {
  last += 1;
  return `+1415${last}`;
};

async function receive(to: string, text: string | undefined, fields: object = {}) {
  const { conversation_id } = await openPhone(app, to).write("", { text, ...fields });
  return conversation_id;
}

async function read(id: string, count?: number) {
  const input = { id, ...(count === undefined ? {} : { messages: count }) };
  return (await app.call(messages.get_conversation_context, input)).data;
}

async function codesAfter(text: string | undefined, fields: object = {}) {
  const { warnings } = await read(await receive(newNumber(), text, fields));
  return warnings.map(({ code }) => code);
}

async function update(conversation_id: string, changes: Omit<InputOf<typeof contacts.update_contact>, "id">) {
  const { contact } = await read(conversation_id);
  await app.call(contacts.update_contact, { id: contact.id, ...changes });
}

test("a conversation has no warnings by default", async () => {
  expect((await read(await receive(newNumber(), "Where is my order?"))).warnings).toEqual([]);
});

test("a blocked contact has a warning, and each send tool the reason; other tools stay allowed", async () => {
  const id = await receive(newNumber(), "hi");
  await update(id, { blocked: true });
  const { warnings, actions } = await read(id);
  const advice = expect.stringContaining("unblock with update_contact only if the contact agreed");
  expect(warnings).toEqual([{ code: "contact_blocked", message: advice }]);
  const rejected = actions.filter(({ is_allowed }) => !is_allowed);
  const sends = ["send_message", "send_media_message", "send_interactive_message"];
  expect(rejected).toEqual(
    expect.arrayContaining(sends.map((tool) => ({ tool, is_allowed: false, reason: advice }))),
  );
  expect(rejected.filter(({ tool }) => !tool.startsWith("send_")).map(({ tool }) => tool)).toEqual([
    "transfer_conversation",
  ]);
  await update(id, { blocked: false });
  expect((await read(id)).warnings).toEqual([]);
});

test("a contact who opted out has a warning, and may be answered", async () => {
  const id = await receive(newNumber(), "STOP");
  const { warnings, actions } = await read(id);
  const message = expect.stringContaining("send no marketing");
  expect(warnings).toEqual([{ code: "opted_out", message }]);
  expect(actions.find(({ tool }) => tool === "send_message")).toMatchObject({ is_allowed: true });
});

test("a request to stop that is not a stop word has a warning that does not repeat it", async () => {
  const { warnings } = await read(await receive(newNumber(), "Please stop sending me these, zebra"));
  const message = expect.stringMatching(/ask the contact, or set opted_out with update_contact/);
  expect(warnings).toEqual([{ code: "asks_to_stop", message }]);
  expect(JSON.stringify(warnings)).not.toContain("zebra");
});

test("the warning ends when the contact is opted out, or writes something else", async () => {
  const id = await receive(newNumber(), "no more messages");
  await update(id, { opted_out: true });
  expect((await read(id)).warnings).toMatchObject([{ code: "opted_out" }]);
  const to = newNumber();
  await receive(to, "no more messages");
  expect((await read(await receive(to, "I mean only today"))).warnings).toEqual([]);
});

test("a blocked contact's request and opt-out are warned of too", async () => {
  const id = await receive(newNumber(), "no more messages");
  await update(id, { blocked: true });
  expect((await read(id)).warnings).toMatchObject([{ code: "contact_blocked" }, { code: "asks_to_stop" }]);
  await update(id, { opted_out: true });
  expect((await read(id)).warnings).toMatchObject([{ code: "contact_blocked" }, { code: "opted_out" }]);
});

test("the latest message of the contact counts, also where it is not among those listed", async () => {
  const to = newNumber();
  await receive(to, "hello");
  const id = await receive(to, "please unsubscribe me");
  for (const body of ["one", "two", "three"]) {
    await app.call(messages.send_message, { to, type: "text", text: { body } });
  }
  const { messages: listed, warnings } = await read(id, 2);
  expect(listed.map(({ direction }) => direction)).toEqual(["outbound", "outbound"]);
  expect(warnings).toMatchObject([{ code: "asks_to_stop" }]);
});

test("a contact who never wrote has no such warning, and another contact's request does not count", async () => {
  await receive(newNumber(), "please unsubscribe me");
  const input = { to: newNumber(), type: "text", text: { body: "please stop" } } as const;
  const { data } = await app.call(messages.send_message, input);
  const { warnings } = await read(data.conversation_id);
  expect(warnings.map(({ code }) => code)).toEqual(["outside_service_window"]);
});

test("a caption and the title of a button can be a request; they are no stop words", async () => {
  const media = { type: "image", url: "https://example.com/a.png", caption: "please stop" };
  expect(await codesAfter(undefined, { media })).toEqual(["asks_to_stop"]);
  expect(await codesAfter(undefined, { media: { ...media, caption: null } })).toEqual([]);
  expect(await codesAfter(undefined, { reply: { id: "x", title: "Unsubscribe" } })).toEqual(["asks_to_stop"]);
  expect(await codesAfter(undefined, { reply: { id: "x", title: "Cancel" } })).toEqual([]);
});

test("a stop word that the inbox replaced is a request; one of its own words is not", async () => {
  const { data: inbox } = await app.call(inboxes.create_inbox, {
    name: "Own words",
    phone_number: "+14155550599",
    settings: { stop_words: ["no more messages"] },
  });
  const to = { to: inbox.phone_number };
  expect(await codesAfter("Stop!", to)).toEqual(["asks_to_stop"]);
  const id = await receive(newNumber(), "No more messages!", to);
  await update(id, { opted_out: false });
  expect((await read(id)).warnings).toEqual([]);
});

test("the context warns of a closed window as the send does, on the simulated channel", async () => {
  const number = newNumber();
  const send = () => app.call(messages.send_message, { to: number, type: "text", text: { body: "Hello" } });
  const { data } = await send();
  expect(data.warnings).toEqual(["outside_service_window"]);
  const codes = async () => (await read(data.conversation_id)).warnings.map(({ code }) => code);
  expect(await codes()).toEqual(["outside_service_window"]);
  await receive(number, "Hi");
  expect((await send()).data.warnings).toBeUndefined();
  expect(await codes()).toEqual([]);
  await app.advanceTime(24 * 3_600_000);
  expect(await codes()).toEqual(["outside_service_window"]);
});
