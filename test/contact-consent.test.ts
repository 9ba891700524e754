/**
 * Stop and start words: a message that is one opts a contact out of marketing or in again, confirmed once.
 */
import { expect, onTestFinished, test } from "vitest";
import { contacts } from "../tools/contacts.ts";
import { conversations } from "../tools/conversations.ts";
import { messages } from "../tools/messages/index.ts";
import { useTestApp } from "./support/app.ts";
import { openPhone } from "./support/simulator.ts";

const app = useTestApp();

let last = 5_550_300;
const newNumber = () => {
  last += 1;
  return `+1415${last}`;
};

async function writeAll(number: string, ...texts: readonly string[]) {
  let conversation_id = "";
  for (const text of texts) {
    ({ conversation_id } = await openPhone(app, number).write(text));
  }
  const { data: conversation } = await app.call(conversations.get_conversation, { id: conversation_id });
  const { data: contact } = await app.call(contacts.get_contact, { id: conversation.contact_id });
  await app.advanceTime(1000);
  const shown = await openPhone(app, number).listMessages();
  const replies = shown.filter(({ direction }) => direction === "outbound").map(({ text }) => text?.body);
  return { ...contact, replies, conversation_id };
}

test.each([
  "STOP",
  " stop ",
  "Stop!",
  "«stop»",
  "STOP 🛑️",
  "stop\nall",
  "opt-out",
  "unsubscribe",
  "ＳＴＯＰ",
  "Désabonner",
  "desabonner",
  "Arrêt.",
  "BAJA",
  "стоп",
  "退订",
  "बंद करें",
])("%j opts out, confirmed once", async (text) => {
  const { opted_out, replies } = await writeAll(newNumber(), text, text);
  expect(opted_out).toBe(true);
  expect(replies).toEqual([expect.stringContaining("Reply START")]);
});

test("a stop word leaves the texts that conditions compare normalized", async () => {
  const number = newNumber();
  await writeAll(number, "hi");
  const { id } = await writeAll(number, "stop");
  const { normalized_at, updated_at } = await app.server.database.queries
    .selectFrom("contacts")
    .select(["normalized_at", "updated_at"])
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  expect(normalized_at).toBe(updated_at);
});

test("a stop word that arrives several times at once is confirmed once", async () => {
  const number = newNumber();
  await writeAll(number, "hi");
  await Promise.all(["stop", "STOP", "Stop!"].map((text) => openPhone(app, number).write(text)));
  expect((await writeAll(number, "stop")).replies).toHaveLength(1);
});

test.each([
  "stop, o Zé não vem",
  "please stop",
  "don't stop",
  "stop sending me the wrong size",
  "the end",
  "start",
  "cancelar",
  "🛑",
  "...",
  "बाद",
])("%j is a message like any other", async (text) => {
  expect(await writeAll(newNumber(), text)).toMatchObject({ opted_out: false, replies: [] });
});

test("START opts in again, confirmed once; ordinary replies are possible throughout", async () => {
  const number = newNumber();
  await writeAll(number, "stop");
  const reply = { to: number, type: "text", text: { body: "Goodbye, and thank you." } } as const;
  expect((await app.call(messages.send_message, reply)).data.status).toBe("queued");
  const { opted_out, replies } = await writeAll(number, "Start", "start");
  expect(opted_out).toBe(false);
  expect(replies).toHaveLength(3);
  expect(replies.at(-1)).toContain("subscribed");
});

test("a button titled with a stop word does not opt out", async () => {
  const number = newNumber();
  await openPhone(app, number).write("", { text: undefined, reply: { id: "c", title: "Cancel" } });
  const { opted_out } = await writeAll(number, "thanks");
  expect(opted_out).toBe(false);
});

test("a stop word in a spam conversation opts out and gets no reply", async () => {
  const number = newNumber();
  const { conversation_id } = await writeAll(number, "hi");
  await app.server.database.queries
    .updateTable("conversations")
    .set({ status: "spam" })
    .where("id", "=", conversation_id)
    .execute();
  expect(await writeAll(number, "stop")).toMatchObject({ opted_out: true, replies: [] });
});

test("the confirmation does not count as an answer: the conversation still waits for one", async () => {
  const { conversation_id } = await writeAll(newNumber(), "stop");
  const { data } = await app.call(conversations.get_conversation, { id: conversation_id });
  expect(data).toMatchObject({ is_unread: true, waiting_since: data.last_user_message_at });
});

test("an inbox can have its own words and replies", async () => {
  const settings = { stop_words: ["Chega!"], start_words: ["Volta"], start_reply: "" };
  const { queries } = app.server.database;
  const set = (one: object) =>
    queries
      .updateTable("inboxes")
      .set({ settings: JSON.stringify(one) })
      .execute();
  const before = await queries.selectFrom("inboxes").select("settings").executeTakeFirstOrThrow();
  onTestFinished(async () => void (await set(before.settings)));
  await set(settings);
  expect(await writeAll(newNumber(), "stop")).toMatchObject({ opted_out: false, replies: [] });
  const number = newNumber();
  const out = await writeAll(number, "chega");
  expect(out.replies).toEqual([expect.stringContaining("VOLTA")]);
  expect(await writeAll(number, "volta")).toMatchObject({ opted_out: false, replies: out.replies });
});

test("opted_out can be set by hand", async () => {
  const { data } = await app.call(contacts.create_contact, { phone_number: newNumber() });
  expect(data.opted_out).toBe(false);
  const changed = await app.call(contacts.update_contact, { id: data.id, opted_out: true });
  expect(changed.data.opted_out).toBe(true);
  const renamed = await app.call(contacts.update_contact, { id: data.id, name: "Ada" });
  expect(renamed.data.opted_out).toBe(true);
});
