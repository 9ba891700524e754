/** What customers change on WhatsApp: their own messages. */
import { describe, expect, test } from "vitest";
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
      ...{ text: { body: "Hello" }, edited_at: null, deleted_at: null, reactions: [] },
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

  test("of an unsupported message deletes its original, and one of ours stays", async () => {
    const { app, shown, write, answer, report, receive } = customer();
    const own = await write("", { type: "order", order: { secret: 1 } });
    const ours = await answer();
    await receive(report("revoke", { original_message_id: own.wamid }));
    await receive(report("revoke", { original_message_id: ours.wamid }));
    expect(await shown(own.wamid)).toMatchObject({ type: "unsupported", unsupported: null });
    const originals = app.server.database.queries.selectFrom("message_originals").select("message_id");
    expect(await originals.where("message_id", "=", own.id).execute()).toEqual([]);
    expect((await ours.read()).text).toEqual({ body: "hello" });
  });
});
