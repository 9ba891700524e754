/** Reactions of ours to messages on WhatsApp: sent at once, kept with the message, and no message. */
import { expect, test } from "vitest";
import { contacts } from "../tools/contacts.ts";
import { conversations } from "../tools/conversations.ts";
import { inboxes } from "../tools/inboxes.ts";
import { messages } from "../tools/messages/index.ts";
import { wallet } from "../tools/wallet.ts";
import examples from "./fixtures/whatsapp/meta-openapi-examples.json" with { type: "json" };
import { createApprovalHelpers } from "./support/approvals.ts";
import { createBudgetHelpers } from "./support/budgets.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { graphError, whatsAppNumber } from "./support/whatsapp.ts";
import { useWhatsAppCustomer } from "./support/whatsapp-customer.ts";
import type { Json } from "./support/whatsapp-emulator.ts";

const customer = useWhatsAppCustomer();

interface NamedMessage {
  readonly id: string;
  readonly conversation_id: string;
}

const react = ({ id: message_id, conversation_id }: NamedMessage, emoji: string | null, options?: object) =>
  customer().app.call(messages.react_to_message, { message_id, conversation_id, emoji }, options);

test("reaches the person and is shown with the message; the conversation stays as it is", async () => {
  const { app, graph, person, write, shown, eventsOf } = customer();
  const own = await write("Thank you!");
  const read = async () => ({
    conversation: (await app.call(conversations.get_conversation, { id: own.conversation_id })).data,
    wallet: (await app.call(wallet.get_wallet, {})).data,
    count: (await app.call(messages.list_messages, { conversation_id: own.conversation_id })).data.length,
  });
  const before = await read();
  const events = await eventsOf(() => react(own, "👍"));
  expect(graph.sent().at(-1)).toEqual({
    messaging_product: "whatsapp",
    recipient_type: "individual",
    to: person().to,
    type: "reaction",
    reaction: { message_id: own.wamid, emoji: "👍" },
  });
  const [reaction] = (await shown(own.wamid)).reactions;
  expect(reaction).toMatchObject({ emoji: "👍", from: whatsAppNumber });
  const ids = { message_id: own.id, conversation_id: own.conversation_id };
  const data = { ...ids, emoji: "👍", from: whatsAppNumber, timestamp: reaction?.at };
  expect(events).toEqual([["message.reaction", data]]);
  expect(await read()).toEqual(before);
});

test("is the request of Meta's example", async () => {
  const { graph, person, write } = customer();
  const requests = examples.operations["post /{Version}/{Phone-Number-ID}/messages"];
  const example: Json = requests.find(({ name }) => name === "Send Reply with Reaction Message")?.value;
  const own = await write("Hello");
  await react(own, example.reaction.emoji);
  const reaction = { ...example.reaction, message_id: own.wamid };
  expect(graph.sent().at(-1)).toEqual({ ...example, to: person().to, reaction });
});

test("replaces our former one, and is removed with null; the person's own stays", async () => {
  const { graph, write, shown, receive, reaction } = customer();
  const own = await write("Hello");
  const emojis = async () => (await shown(own.wamid)).reactions.map(({ emoji }) => emoji);
  await react(own, "👍");
  await receive(reaction(own.wamid, "🎉"));
  await react(own, "❤️");
  expect(await emojis()).toEqual(["🎉", "❤️"]);
  await react(own, null);
  expect(graph.sent().at(-1)).toMatchObject({ reaction: { message_id: own.wamid, emoji: "" } });
  expect(await emojis()).toEqual(["🎉"]);
});

test("goes to the id of a person without a number", async () => {
  const { graph, person, write, hideNumber } = customer();
  hideNumber();
  await react(await write("Hello"), "👍");
  expect(graph.sent().at(-1)).toMatchObject({ recipient: person().to, type: "reaction" });
  expect(graph.sent().at(-1)).not.toHaveProperty("to");
});

test("to a message that WhatsApp does not have, or that was deleted, sends nothing", async () => {
  const { app, inbox, graph, person, write, report, receive } = customer();
  const own = await write("Hello");
  const text = { body: "Hi" };
  const input = { to: person().to, type: "text" as const, text, inbox_id: inbox.id };
  const { data: queued } = await app.call(messages.send_message, input);
  await receive(report("revoke", { original_message_id: own.wamid }));
  const { conversation_id } = own;
  const sent = graph.sent().length;
  const other = await expectFailure(react({ id: "msg_unknown", conversation_id }, "👍"));
  expect(other).toMatchObject({ status: 404, code: "message_not_found", error: { param: "message_id" } });
  const next = await app.call(messages.send_message, { ...input, reply_to: queued.id });
  for (const message of [own, next.data]) {
    expect(await expectFailure(react(message, "👍"))).toMatchObject({
      status: 422,
      code: "message_not_reactable",
    });
  }
  expect(graph.sent()).toHaveLength(sent);
  await app.runDueJobs();
});

test("outside the window, to a blocked contact, or against a key's rules is refused", async () => {
  const { app, graph, write } = customer();
  const own = await write("Hello");
  const { conversation_id } = own;
  const { data: all } = await app.call(inboxes.list_inboxes, {});
  const others = all.filter(({ channel }) => channel === "simulator").map(({ id }) => id);
  const { key } = await createApprovalHelpers(app).createKey({ allow: { inboxes: others } });
  const sent = graph.sent().length;
  const codeOf = async (call: Promise<unknown>) => (await expectFailure(call)).code;
  expect(await codeOf(react(own, "👍", { key }))).toBe("not_allowed_by_rules");
  const { data } = await app.call(conversations.get_conversation, { id: conversation_id });
  const block = (blocked: boolean) => app.call(contacts.update_contact, { id: data.contact_id, blocked });
  await block(true);
  expect(await codeOf(react(own, "👍"))).toBe("contact_blocked");
  await block(false);
  await app.advanceTime(24 * 3_600_000);
  expect(await codeOf(react(own, "👍"))).toBe("outside_service_window");
  expect(graph.sent()).toHaveLength(sent);
});

test("counts on the budget for messages of its key, which can hold it back; its removal does not count", async () => {
  const { app, graph, write } = customer();
  const { createBudgetedKey, useOf } = createBudgetHelpers(app);
  const own = await write("Hello");
  const { key, id } = await createBudgetedKey({ messages: { day: 2 } });
  const used = async () => (await useOf(id))?.messages.day.used;
  await react(own, "👍", { key });
  expect(await used()).toBe(1);
  await react(own, null, { key });
  expect(await used()).toBe(1);
  const accept = graph.routes["POST messages"];
  graph.routes["POST messages"] = () => graphError(131009);
  await expectFailure(react(own, "👍", { key }));
  Object.assign(graph.routes, { "POST messages": accept });
  // As a message that fails later, one that the channel rejects is not given back.
  expect(await used()).toBe(2);
  const sent = graph.sent().length;
  const held = await react(own, "🎉", { key, idempotencyKey: "held" });
  expect(held).toMatchObject({
    data: {
      plan: { status: "awaiting_approval", why: [expect.stringContaining("limit 2, used 2, needed 1")] },
    },
  });
  expect(graph.sent()).toHaveLength(sent);
  expect(await used()).toBe(2);
  await app.advanceTime(14 * 3_600_000);
  // What waits is not sent when the budget renews.
  expect(await react(own, "🎉", { key, idempotencyKey: "held" })).toEqual(held);
  await react(own, "🎉", { key, idempotencyKey: "later" });
  await react(own, "🎉", { key, idempotencyKey: "later" });
  expect(await used()).toBe(1);
  expect(graph.sent()).toHaveLength(sent + 1);
});

test("that WhatsApp rejects is not shown, and its reason is the caller's", async () => {
  const { graph, write, shown } = customer();
  const own = await write("Hello");
  const accept = graph.routes["POST messages"];
  const details = { error_data: { details: "The message is older than 30 days" } };
  graph.routes["POST messages"] = () => graphError(131009, details);
  expect(await expectFailure(react(own, "👍"))).toMatchObject({
    status: 422,
    code: "reaction_rejected",
    error: { message: "The channel rejects the reaction: The message is older than 30 days." },
  });
  graph.routes["POST messages"] = () => graphError(130429);
  expect(await expectFailure(react(own, "👍"))).toMatchObject({ status: 503, code: "channel_unreachable" });
  expect((await shown(own.wamid)).reactions).toEqual([]);
  Object.assign(graph.routes, { "POST messages": accept });
  await react(own, "👍");
  expect((await shown(own.wamid)).reactions).toHaveLength(1);
});

test("is not stored with the message of a contact who is deleted meanwhile", async () => {
  const { app, graph, write } = customer();
  const own = await write("Hello");
  const { data } = await app.call(conversations.get_conversation, { id: own.conversation_id });
  const accept = graph.routes["POST messages"];
  graph.routes["POST messages"] = async (request) => {
    await app.call(contacts.delete_contact, { id: data.contact_id });
    await app.runDueJobs();
    return (await accept?.(request)) ?? "hang";
  };
  await react(own, "👍");
  Object.assign(graph.routes, { "POST messages": accept });
  const { reactions } = await app.server.database.queries
    .selectFrom("messages")
    .select("reactions")
    .where("id", "=", own.id)
    .executeTakeFirstOrThrow();
  expect(reactions).toBe(null);
});
