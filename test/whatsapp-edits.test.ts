/** What customers change on WhatsApp: their own messages, and whether they want marketing. */
import { describe, expect, test } from "vitest";
import { contacts } from "../tools/contacts.ts";
import { conversations } from "../tools/conversations.ts";
import { inboxes } from "../tools/inboxes.ts";
import { messages } from "../tools/messages/index.ts";
import { openPhone, setFaults } from "./support/simulator.ts";
import { credentials, deliver, messagesChange } from "./support/whatsapp.ts";
import { isoOf, useWhatsAppCustomer } from "./support/whatsapp-customer.ts";

const customer = useWhatsAppCustomer();

describe("an edit", () => {
  const edit = (original_message_id: string, message: object, later = 1) => {
    const { report, seconds } = customer();
    return report("edit", { original_message_id, message }, seconds(later));
  };
  const toText = (body: string) => ({ type: "text", text: { body } });

  test("replaces the text, once; an older one does not", async () => {
    const { person, shown, write, receive, eventsOf } = customer();
    const own = await write("Helo");
    const { id: message_id, conversation_id } = own;
    const newer = edit(own.wamid, toText("Hello"), 9);
    const events = await eventsOf(async () => {
      await receive(newer);
      await receive(newer, edit(own.wamid, toText("Hel"), 5));
    });
    const edited_at = isoOf(newer.timestamp);
    const text = { body: "Hello" };
    expect(await shown(own.wamid)).toMatchObject({ text, edited_at, deleted_at: null });
    const data = { message_id, conversation_id, from: person().to, type: "text", text };
    expect(events).toEqual([["message.edited", { ...data, edited_at, deleted_at: null }]]);
  });

  test("of the same second as the former one counts, and neither counts again", async () => {
    const { shown, write, receive, eventsOf } = customer();
    const own = await write("Helo");
    const both = [edit(own.wamid, toText("Hell")), edit(own.wamid, toText("Hello"))];
    const events = await eventsOf(async () => {
      await receive(...both);
      await receive(...both);
    });
    const texts = ["Hell", "Hello"].map((body) => ({ text: { body } }));
    expect(events.map(([, data]) => data)).toMatchObject(texts);
    expect((await shown(own.wamid)).text).toEqual({ body: "Hello" });
  });

  test("replaces or removes the caption of a file, which stays", async () => {
    const { app, shown, write, receive, hideNumber } = customer();
    hideNumber();
    const image = { id: "3001", mime_type: "image/jpeg", caption: "Lok" };
    const own = await write("", { type: "image", image });
    await receive(edit(own.wamid, { type: "image", image: { ...image, caption: "Look" } }));
    const changed = await shown(own.wamid);
    expect(changed.media?.caption).toBe("Look");
    await receive(edit(own.wamid, { type: "image", image: { id: "3001" } }, 2));
    const { media } = await shown(own.wamid);
    expect(media?.caption).toBe(null);
    const { pathname, search } = new URL(media?.url ?? "");
    expect((await app.fetch(pathname + search, { key: null })).status).toBe(200);
  });

  test("or a deletion or a reaction by another person changes nothing", async () => {
    const { shown, write, receive, report, seconds, next } = customer();
    const own = await write("Hello");
    next();
    const byUnknown = edit(own.wamid, toText("forged"));
    await receive(byUnknown);
    await write("I am another person");
    await receive(
      edit(own.wamid, toText("forged"), 2),
      report("revoke", { original_message_id: own.wamid }, seconds(3)),
      report("reaction", { message_id: own.wamid, emoji: "👎" }, seconds(4)),
    );
    expect(await shown(own.wamid)).toMatchObject({
      text: { body: "Hello" },
      edited_at: null,
      deleted_at: null,
      reactions: [],
    });
  });

  test("or a deletion or a reaction at the simulated phone changes nothing", async () => {
    const { app, person, shown, write } = customer();
    const own = await write("Hello");
    const statuses: number[] = [];
    for (const change of [
      { edit: { message_id: own.wamid, text: "forged" } },
      { revoke: { message_id: own.wamid } },
      { reaction: { message_id: own.wamid, emoji: "👎" } },
    ]) {
      const json = { from: person().to, ...change };
      statuses.push((await app.fetch("/simulator/inbound", { method: "POST", json })).status);
    }
    expect(statuses).toEqual([400, 400, 400]);
    expect(await shown(own.wamid)).toMatchObject({
      text: { body: "Hello" },
      edited_at: null,
      deleted_at: null,
      reactions: [],
    });
  });

  test("of our message, or to another kind of content, changes nothing", async () => {
    const { shown, write, answer, receive } = customer();
    const own = await write("Hello");
    const ours = await answer();
    await receive(
      edit(ours.wamid, toText("Ours")),
      edit(own.wamid, { type: "image", image: { caption: "x" } }),
    );
    expect(await ours.read()).toMatchObject({ text: { body: "hello" }, edited_at: null });
    expect(await shown(own.wamid)).toMatchObject({ text: { body: "Hello" }, edited_at: null });
  });

  test.each([
    ["edit", { original_message_id: "wamid.x" }],
    ["edit", { message: toText("x") }],
    ["revoke", {}],
    ["reaction", { emoji: "👍" }],
  ] as const)("a report of another form, %s %j, is an unsupported message", async (type, content) => {
    const { shown, report, receive } = customer();
    const change = report(type, content);
    await receive(change);
    expect(await shown(change.id)).toMatchObject({ type: "unsupported", unsupported: { type } });
  });
});

describe("a deletion", () => {
  test("removes the content and the file, for good", async () => {
    const { app, seconds, shown, write, report, receive, eventsOf } = customer();
    const image = { id: "3001", mime_type: "image/jpeg", caption: "Secret" };
    const own = await write("", { type: "image", image });
    const { pathname, search } = new URL(own.media?.url ?? "");
    const revocation = report("revoke", { original_message_id: own.wamid }, seconds(3));
    const events = await eventsOf(async () => {
      await receive(revocation);
      await receive(
        revocation,
        report("edit", { original_message_id: own.wamid, message: { type: "image", image } }, seconds(8)),
      );
    });
    const deleted_at = isoOf(revocation.timestamp);
    const gone = { type: "image", text: null, media: null, deleted_at, edited_at: null };
    expect(await shown(own.wamid)).toMatchObject(gone);
    expect(events).toMatchObject([["message.edited", { message_id: own.id, type: "image", deleted_at }]]);
    expect((await app.fetch(pathname + search, { key: null })).status).toBe(404);
  });

  test("of an unsupported message deletes what it was, and one of ours stays", async () => {
    const { shown, write, answer, report, receive } = customer();
    const own = await write("", { type: "order", order: { secret: 1 } });
    const ours = await answer();
    await receive(report("revoke", { original_message_id: own.wamid }));
    await receive(report("revoke", { original_message_id: ours.wamid }));
    const gone = await shown(own.wamid);
    expect(gone).toMatchObject({ type: "unsupported", unsupported: null });
    expect(JSON.stringify(gone)).not.toContain("secret");
    expect((await ours.read()).text).toEqual({ body: "hello" });
  });
});

describe("a choice about marketing", () => {
  const metadata = { display_phone_number: "16315555555", phone_number_id: credentials.phone_number_id };
  const choose = (value: "stop" | "resume", timestamp: string, ids: object) => {
    const { app, inbox } = customer();
    return deliver(app, inbox, {
      field: "user_preferences",
      value: {
        messaging_product: "whatsapp",
        metadata,
        user_preferences: [{ ...ids, category: "marketing_messages", value, timestamp: Number(timestamp) }],
      },
    });
  };
  const contactOf = async (search: string) =>
    (await customer().app.call(contacts.list_contacts, { search })).data.at(0);
  const countSent = () => customer().graph.sent().length;

  test("in the app opts out and in, without an answer; an older one does not count", async () => {
    const { person, seconds, write } = customer();
    await write("Hello");
    const ids = { wa_id: person().to.slice(1) };
    const state = async () => (await contactOf(person().to))?.opted_out;
    const before = countSent();
    await choose("stop", seconds(1), ids);
    expect(await state()).toBe(true);
    await choose("resume", seconds(2), ids);
    expect(await state()).toBe(false);
    await choose("stop", seconds(1), ids);
    expect(await state()).toBe(false);
    await choose("stop", seconds(3), ids);
    await choose("resume", seconds(2), ids);
    expect(await state()).toBe(true);
    await choose("stop", seconds(6), ids);
    await choose("resume", seconds(5), ids);
    expect(await state()).toBe(true);
    expect(countSent()).toBe(before);
  });

  test("counts against stop and start words by the time when they were written", async () => {
    const { person, seconds, write } = customer();
    const ids = { wa_id: person().to.slice(1) };
    await write("Hello");
    await choose("stop", seconds(-10), ids);
    await write("START", { timestamp: seconds(-60) });
    expect((await contactOf(person().to))?.opted_out).toBe(true);
    await write("START", { timestamp: seconds(-5) });
    await choose("stop", seconds(-1), ids);
    expect((await contactOf(person().to))?.opted_out).toBe(true);
  });

  test("to stop counts in the second in which the API set another", async () => {
    const { app, person, seconds, write } = customer();
    const { conversation_id } = await write("Hello");
    const { data } = await app.call(conversations.get_conversation, { id: conversation_id });
    await app.call(contacts.update_contact, { id: data.contact_id, opted_out: true });
    await app.call(contacts.update_contact, { id: data.contact_id, opted_out: false });
    await choose("stop", seconds(0), { wa_id: person().to.slice(1) });
    expect((await contactOf(person().to))?.opted_out).toBe(true);
  });

  test("to stop counts if it is reported after an update that changed nothing", async () => {
    const { app, person, seconds, write } = customer();
    const { conversation_id } = await write("Hello");
    const { data } = await app.call(conversations.get_conversation, { id: conversation_id });
    await app.call(contacts.update_contact, { id: data.contact_id, opted_out: false });
    await choose("stop", seconds(-60), { wa_id: person().to.slice(1) });
    expect((await contactOf(person().to))?.opted_out).toBe(true);
  });

  test("to stop does not count if the API opted the contact in since", async () => {
    const { app, person, seconds, write } = customer();
    const { conversation_id } = await write("Hello");
    const { data } = await app.call(conversations.get_conversation, { id: conversation_id });
    await choose("stop", seconds(-120), { wa_id: person().to.slice(1) });
    await app.call(contacts.update_contact, { id: data.contact_id, opted_out: false });
    await choose("stop", seconds(-60), { wa_id: person().to.slice(1) });
    expect((await contactOf(person().to))?.opted_out).toBe(false);
  });

  test("at the simulated phone changes nothing, as there is a real inbox", async () => {
    const { app, person, seconds, write } = customer();
    await write("STOP", { timestamp: seconds(-9) });
    const phone = openPhone(app, person().to);
    await phone.write("START");
    expect((await contactOf(person().to))?.opted_out).toBe(true);
    await write("START", { timestamp: seconds(-1) });
    await phone.write("STOP");
    expect((await contactOf(person().to))?.opted_out).toBe(false);
    expect((await phone.listMessages()).map(({ direction }) => direction)).toEqual(["inbound", "inbound"]);
  });

  test("as a failure of the simulated channel changes nothing either", async () => {
    const { app, person, write } = customer();
    const to = person().to;
    await write("Hello");
    const { data: all } = await app.call(inboxes.list_inboxes, {});
    const inbox_id = all.find(({ channel }) => channel === "simulator")?.id;
    await setFaults(app, { failures: [{ code: 131050, to }] });
    const text = { type: "text", text: { body: "Hi" } } as const;
    const { data } = await app.call(messages.send_message, { to, inbox_id, ...text });
    await app.runDueJobs();
    await app.advanceTime(2_000);
    await setFaults(app, {});
    const { conversation_id, id: message_id } = data;
    const { data: sent } = await app.call(messages.get_message, { conversation_id, message_id });
    expect(sent.error?.code).toBe("marketing_opt_out");
    expect((await contactOf(to))?.opted_out).toBe(false);
  });

  test("does not undo what the API set later", async () => {
    const { app, person, seconds, write } = customer();
    const { conversation_id } = await write("Hello");
    const { data } = await app.call(conversations.get_conversation, { id: conversation_id });
    const stopped = seconds(-60);
    await app.call(contacts.update_contact, { id: data.contact_id, opted_out: true });
    await app.call(contacts.update_contact, { id: data.contact_id, opted_out: false });
    await choose("stop", stopped, { wa_id: person().to.slice(1) });
    expect((await contactOf(person().to))?.opted_out).toBe(false);
  });

  test("of a person without a number counts by the user id", async () => {
    const { app, person, seconds, write, hideNumber } = customer();
    hideNumber();
    const { conversation_id } = await write("Hello");
    await choose("stop", seconds(1), { user_id: person().to });
    const { data } = await app.call(conversations.get_conversation, { id: conversation_id });
    const { data: contact } = await app.call(contacts.get_contact, { id: data.contact_id });
    expect(contact.opted_out).toBe(true);
  });

  test("of an unknown person is kept if it is to stop", async () => {
    const { person, seconds } = customer();
    await choose("resume", seconds(1), { wa_id: person().to.slice(1) });
    expect(await contactOf(person().to)).toBe(undefined);
    await choose("stop", seconds(1), { wa_id: person().to.slice(1) });
    expect(await contactOf(person().to)).toMatchObject({ opted_out: true, phone_number: person().to });
  });

  test.each(["the answer", "a receipt"])("is known by 131050 in %s", async (where) => {
    const { app, graph, inbox, person, seconds, write, answer } = customer();
    await write("Hello");
    const error = { code: 131050, title: "User has stopped marketing messages" };
    if (where === "the answer") {
      const usual = graph.routes["POST messages"] ?? (() => ({}));
      graph.routes["POST messages"] = () => ({
        status: 400,
        body: { error: { ...error, message: "(#131050)" } },
      });
      await answer();
      graph.routes["POST messages"] = usual;
    } else {
      const { wamid: id } = await answer();
      const failed = { id, status: "failed", timestamp: seconds(1), errors: [error] };
      await deliver(app, inbox, messagesChange({ statuses: [failed] }));
    }
    expect((await contactOf(person().to))?.opted_out).toBe(true);
  });
});
