/**
 * Conversations that are the same on the simulated channel and on WhatsApp: answers, choices, files,
 * flows, hidden numbers.
 */
import { describe, expect, test } from "vitest";
import { contacts } from "../../tools/contacts.ts";
import { conversations } from "../../tools/conversations.ts";
import { messages } from "../../tools/messages/index.ts";
import { channelNames, useChannel } from "../support/channels.ts";
import { jpeg, png } from "../support/files.ts";
import { chain, createFlowHelpers, say } from "../support/flows.ts";
import { createUploadHelpers } from "../support/uploads.ts";

describe.each(channelNames)("on %s", (name) => {
  const channel = useChannel(name);

  test("a customer writes, an agent answers, and the answer is delivered and then read", async () => {
    const { app, phone, settle, sendText, newest, read } = channel();
    const ada = phone("+14155550401");
    await ada.write("Hello!", { name: "Ada" });
    const question = await newest();
    expect(question).toMatchObject({ direction: "inbound", from: "+14155550401", text: { body: "Hello!" } });
    const { conversation_id: id } = question;
    expect((await app.call(conversations.get_conversation, { id })).data).toMatchObject({
      contact_name: "Ada",
      platform: "whatsapp",
      is_unread: true,
      is_within_24h_window: true,
    });

    const answer = await sendText("+14155550401", "Hello, Ada!");
    expect(answer).toMatchObject({ status: "queued", conversation_id: id });
    await settle();
    expect(await read(answer)).toMatchObject({ status: "delivered", read_at: null });
    expect(await ada.shown()).toMatchObject([{ type: "text", status: "delivered", text: "Hello, Ada!" }]);

    await ada.read();
    const seen = await read(answer);
    expect(seen.status).toBe("read");
    const times = [seen.sent_at, seen.delivered_at, seen.read_at].map((at) => Date.parse(at ?? ""));
    expect(times).toEqual([...times].sort((one, other) => one - other));
    expect((await ada.shown()).map(({ status }) => status)).toEqual(["read"]);
  });

  test("buttons and a list are shown, and the choice comes back as reply", async () => {
    const { phone, settle, send, newest } = channel();
    const number = "+14155550402";
    const customer = phone(number);
    await customer.write("Where is my order?");
    const buttons = [
      { id: "today", title: "Today" },
      { id: "later", title: "Later" },
    ];
    await send(number, { type: "interactive", interactive: { body: "When do you need it?", buttons } });
    await settle();
    await customer.choose("Later");
    expect(await newest()).toMatchObject({
      direction: "inbound",
      type: "interactive",
      reply: { id: "later", title: "Later" },
    });

    const rows = [
      { id: "express", title: "Express", description: "Tomorrow" },
      { id: "standard", title: "Standard" },
    ];
    const list = { button: "Choose", sections: [{ title: "Shipping", rows }] };
    await send(number, { type: "interactive", interactive: { body: "How do we send it?", list } });
    await settle();
    await customer.choose("Express");
    expect(await newest()).toMatchObject({
      direction: "inbound",
      type: "interactive",
      reply: { id: "express", title: "Express" },
    });
    expect(await customer.shown()).toMatchObject([
      { type: "interactive", text: "When do you need it?", choices: ["Today", "Later"] },
      { type: "interactive", text: "How do we send it?", choices: ["Express", "Standard"] },
    ]);
  });

  test("an upload reaches the phone, and a customer's file arrives", async () => {
    const { app, phone, settle, send, read, newest } = channel();
    const number = "+14155550403";
    const customer = phone(number);
    const uploads = createUploadHelpers(app);
    await customer.write("Can you show it?");
    const { storage_url } = await uploads.upload({ name: "canoe.png", bytes: png });
    const sent = await send(number, { type: "image", media_url: storage_url, caption: "A canoe" });
    await settle();
    expect((await read(sent)).status).toBe("delivered");
    expect(await customer.shown()).toEqual([
      { type: "image", status: "delivered", text: "A canoe", quotes: null, choices: [], file: png },
    ]);

    const before = (await uploads.listFiles()).length;
    const url = "https://customer.example/mine.jpg";
    await customer.sendFile({ type: "image", bytes: jpeg, mime_type: "image/jpeg", caption: "Mine", url });
    const received = await newest();
    expect(received).toMatchObject({ direction: "inbound", type: "image", media: { caption: "Mine" } });
    const copies = (await uploads.listFiles()).length - before;
    const address = received.media?.url ?? "";
    if (name === "simulator") {
      // The simulated customer gives an address, which the message has as it is.
      expect([copies, address]).toEqual([0, url]);
      return;
    }
    // WhatsApp deletes its files: this one is in the app's store, behind a link of the app.
    expect(copies).toBe(1);
    const { pathname, search } = new URL(address);
    const stored = await app.fetch(pathname + search, { key: null });
    expect(Buffer.from(await stored.arrayBuffer())).toEqual(jpeg);
  });

  test("a flow that a keyword starts asks, waits, asks again, and answers", async () => {
    const { app, phone, advance, newest } = channel();
    const { create, runsOf } = createFlowHelpers(app);
    const ask = { text: "How many?", save_as: "amount", validate: { type: "number", min: 1 } };
    const nodes = chain(
      { id: "ask", node_type: "ask", action_config: ask },
      say("{{vars.amount}} it is, {{contact.name}}.", "thank"),
    );
    await create(nodes, { trigger_keyword: "offer" });
    const grace = phone("+14155550404");
    await grace.write("An OFFER, please", { name: "Grace" });
    await advance(3_600_000);
    await grace.write("a few");
    await grace.write("12");
    const texts = (await grace.shown()).map(({ text }) => text);
    expect(texts).toEqual(["How many?", "How many?", "12 it is, Grace."]);
    const { conversation_id } = await newest();
    const [run] = await runsOf(conversation_id);
    expect(run?.path.map(({ node_id, outcome }) => [node_id, outcome])).toEqual([
      ["ask", "wait"],
      ["ask", "invalid"],
      ["ask", "reply"],
      ["thank", "next"],
    ]);
    const { data } = await app.call(messages.list_messages, { conversation_id });
    const outbound = data.filter(({ direction }) => direction === "outbound");
    expect(outbound.map(({ status, sent_by }) => [status, sent_by?.type])).toEqual(
      Array(3).fill(["delivered", "flow"]),
    );
  });

  test("a customer quotes, reacts and edits, and an agent quotes the customer", async () => {
    const { app, phone, settle, send, read, newest } = channel();
    const number = "+14155550405";
    const ida = phone(number);
    await ida.write("Do you have red canoes?");
    const question = await newest();
    const text = { body: "Yes, two." };
    const answer = await send(number, { type: "text", text, reply_to: question.id });
    await settle();
    expect(await ida.shown()).toMatchObject([{ text: "Yes, two.", quotes: "Do you have red canoes?" }]);
    expect(await read(answer)).toMatchObject({ status: "delivered", reply_to: question.id, reactions: [] });

    const { conversation_id: id } = question;
    await app.call(conversations.update_conversation, { id, is_unread: false, status: "closed" });
    await ida.react("👍");
    expect((await read(answer)).reactions).toMatchObject([{ emoji: "👍", from: number }]);
    await ida.react(null);
    expect((await read(answer)).reactions).toEqual([]);
    expect((await app.call(conversations.get_conversation, { id })).data).toMatchObject({
      status: "closed",
      is_unread: false,
    });

    await ida.quote("I take bot");
    const order = await newest();
    expect(order).toMatchObject({ text: { body: "I take bot" }, reply_to: answer.id, edited_at: null });
    await ida.edit("I take both");
    expect(await read(order)).toMatchObject({ text: { body: "I take both" }, edited_at: expect.any(String) });
    await ida.edit(null);
    expect(await read(order)).toMatchObject({ type: "text", text: null, deleted_at: expect.any(String) });
  });

  test("a customer without a phone number is known by the user id, and answered by it", async () => {
    const { app, hiddenPhone, settle, sendText, read, newest } = channel();
    const bsuid = "US.13491208655302741918";
    const hidden = hiddenPhone(bsuid);
    await hidden.write("Guess who", { name: "Hidden" });
    const question = await newest();
    const { data } = await app.call(conversations.get_conversation, { id: question.conversation_id });
    const { data: contact } = await app.call(contacts.get_contact, { id: data.contact_id });
    expect(contact).toMatchObject({ name: "Hidden", phone_number: null, bsuid });

    const answer = await sendText(bsuid, "Hello, stranger.");
    expect(answer.conversation_id).toBe(question.conversation_id);
    await settle();
    expect((await read(answer)).status).toBe("delivered");
    expect((await hidden.shown()).map(({ text }) => text)).toEqual(["Hello, stranger."]);
    await hidden.read();
    expect((await read(answer)).status).toBe("read");
  });
});
