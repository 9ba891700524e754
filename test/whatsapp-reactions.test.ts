/** What customers say about earlier messages on WhatsApp: they quote them and react to them. */
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { contacts } from "../tools/contacts.ts";
import { conversations } from "../tools/conversations.ts";
import { messages } from "../tools/messages/index.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { inboundText, sendText } from "./support/whatsapp.ts";
import { isoOf, useWhatsAppCustomer } from "./support/whatsapp-customer.ts";

const customer = useWhatsAppCustomer();

describe("a quote", () => {
  test("of ours is shown by our id; an unknown one as null", async () => {
    const { app, write, answer } = customer();
    await write("Hello");
    const ours = await answer();
    const quoting = await write("This one", { context: { from: "16315555555", id: ours.wamid } });
    expect(quoting.reply_to).toBe(ours.id);
    expect((await write("?", { context: { id: "wamid.unknown" } })).reply_to).toBe(null);
    expect((await write("forwarded", { context: { forwarded: true } })).reply_to).toBe(null);
    const { conversation_id } = quoting;
    const { data } = await app.call(messages.list_messages, { conversation_id });
    expect(data.map((one) => one.reply_to)).toEqual([null, null, ours.id, null, null]);
  });

  test("by a person without a number arrives, and is sent to the user id", async () => {
    const { app, graph, inbox, person, shown, write, hideNumber } = customer();
    hideNumber();
    const question = await write("Which one?");
    const text = { body: "This" };
    const { data } = await app.call(messages.send_message, {
      to: person().to,
      type: "text",
      text,
      inbox_id: inbox.id,
      reply_to: question.id,
    });
    await app.runDueJobs();
    expect(graph.sent().at(-1)).toMatchObject({
      recipient: person().to,
      text,
      context: { message_id: question.wamid },
    });
    const wamid = `wamid.${graph.sent().length}`;
    expect((await shown(wamid)).reply_to).toBe(question.id);
    expect((await write("Yes", { context: { id: wamid } })).reply_to).toBe(data.id);
  });

  test("without reply_to sends no context", async () => {
    const { graph, write, answer } = customer();
    await write("Hello");
    await answer();
    expect(graph.sent().at(-1)).not.toHaveProperty("context");
  });

  test("of another conversation, of none, or of a message that WhatsApp does not have is refused", async () => {
    const { app, inbox, person, write, next } = customer();
    const other = await write("Hello");
    next();
    await write("Hello");
    const send = (reply_to: string) =>
      app.call(messages.send_message, {
        to: person().to,
        type: "text",
        text: { body: "hi" },
        inbox_id: inbox.id,
        reply_to,
      });
    const absent = { status: 404, code: "message_not_found", error: { param: "reply_to" } };
    expect(await expectFailure(send(other.id))).toMatchObject(absent);
    expect(await expectFailure(send("msg_unknown"))).toMatchObject(absent);
    const { data: queued } = await app.call(messages.send_message, {
      to: person().to,
      type: "text",
      text: { body: "first" },
      inbox_id: inbox.id,
    });
    expect(await expectFailure(send(queued.id))).toMatchObject({
      status: 422,
      code: "message_not_quotable",
      error: { param: "reply_to" },
    });
    await app.runDueJobs();
    expect((await send(queued.id)).data.status).toBe("queued");
  });
});

describe("a reaction", () => {
  test("is shown with the message, once, and changes nothing else", async () => {
    const { app, person, write, answer, reaction, receive, eventsOf } = customer();
    await write("Hello");
    const ours = await answer();
    const { conversation_id } = await ours.read();
    await app.call(conversations.update_conversation, {
      id: conversation_id,
      status: "closed",
      is_unread: false,
    });
    const state = async () => {
      const { data } = await app.call(conversations.get_conversation, { id: conversation_id });
      return data;
    };
    const before = await state();
    await app.advanceTime(60_000);
    const thumb = reaction(ours.wamid, "👍");
    const events = await eventsOf(async () => {
      await receive(thumb, thumb);
      await receive(thumb);
    });
    const at = isoOf(thumb.timestamp);
    const from = person().to;
    const ids = { message_id: ours.id, conversation_id };
    expect((await ours.read()).reactions).toEqual([{ emoji: "👍", from, at }]);
    expect(events).toEqual([["message.reaction", { ...ids, from, emoji: "👍", timestamp: at }]]);
    expect(await state()).toEqual(before);
  });

  test("replaces the person's former one, and is removed without an emoji", async () => {
    const { person, seconds, shown, write, reaction, receive, eventsOf } = customer();
    const own = await write("Hello");
    const emojis = async () => (await shown(own.wamid)).reactions.map(({ emoji }) => emoji);
    await receive(reaction(own.wamid, "👍", seconds(1)));
    await receive(reaction(own.wamid, "❤️", seconds(2)));
    expect(await emojis()).toEqual(["❤️"]);
    const removal = reaction(own.wamid, undefined, seconds(3));
    const events = await eventsOf(async () => {
      await receive(removal);
      await receive(removal, reaction(own.wamid, "", seconds(4)));
    });
    expect(await emojis()).toEqual([]);
    expect(events).toMatchObject([["message.reaction", { emoji: null, from: person().to }]]);
  });

  test("that is older than the known one, also than a removal, does not count", async () => {
    const { seconds, shown, write, reaction, receive, eventsOf } = customer();
    const own = await write("Hello");
    const emojis = async () => (await shown(own.wamid)).reactions.map(({ emoji }) => emoji);
    const old = reaction(own.wamid, "👍", seconds(1));
    await receive(reaction(own.wamid, "❤️", seconds(5)));
    expect(await eventsOf(() => receive(old))).toEqual([]);
    expect(await emojis()).toEqual(["❤️"]);
    await receive(reaction(own.wamid, undefined, seconds(6)));
    await receive(old);
    expect(await emojis()).toEqual([]);
  });

  test("of the same second as the former one counts, and neither counts again", async () => {
    const { seconds, shown, write, reaction, receive, eventsOf } = customer();
    const own = await write("Hello");
    const both = [reaction(own.wamid, "👍", seconds(1)), reaction(own.wamid, "❤️", seconds(1))];
    const events = await eventsOf(async () => {
      for (const one of [...both, ...both]) {
        await receive(one);
      }
    });
    expect(events.map(([, data]) => data)).toMatchObject([{ emoji: "👍" }, { emoji: "❤️" }]);
    expect((await shown(own.wamid)).reactions).toMatchObject([{ emoji: "❤️" }]);
  });

  test("and its removal of the same second, in one request, leave none", async () => {
    const { seconds, shown, write, reaction, receive, eventsOf } = customer();
    const own = await write("Hello");
    const emojis = ["👍", "❤️", "👍", "❤️", "👍", undefined];
    const events = await eventsOf(() =>
      receive(...emojis.map((emoji) => reaction(own.wamid, emoji, seconds(1)))),
    );
    expect(events.map(([, data]) => data)).toMatchObject(emojis.map((emoji) => ({ emoji: emoji ?? null })));
    expect((await shown(own.wamid)).reactions).toEqual([]);
  });

  test("that waits is applied before its removal of the same second, and does not count again", async () => {
    const { app, person, seconds, shown, reaction, receive } = customer();
    const id = "wamid.coming";
    const thumb = reaction(id, "👍", seconds(0));
    await receive(thumb);
    await receive(inboundText("Hello", { ...person().ids, id }));
    await receive(reaction(id, undefined, seconds(0)), thumb);
    await app.advanceTime(2_000);
    expect((await shown(id)).reactions).toEqual([]);
  });

  test("stays the person's one when the number is hidden or changed", async () => {
    const { person, seconds, shown, write, reaction, receive } = customer();
    const both = { ...person().ids, from_user_id: `US.88${person().to.slice(1)}` };
    const own = await write("Hello", both);
    await receive(reaction(own.wamid, "👍", seconds(1)));
    const { from_user_id } = both;
    await receive({ ...reaction(own.wamid, "❤️", seconds(2)), from: undefined, from_user_id });
    expect((await shown(own.wamid)).reactions).toMatchObject([{ emoji: "❤️", from: from_user_id }]);
  });

  test("waits for a message that is not known yet, and is dropped after an hour", async () => {
    const { app, graph, warnings, write, answer, reaction, receive } = customer();
    await write("Hello");
    const coming = `wamid.${graph.sent().length + 1}`;
    await receive(reaction(coming, "👍"), reaction("wamid.never", "👎"));
    // What the person writes meanwhile does not wait.
    expect((await write("And?")).text).toEqual({ body: "And?" });
    const ours = await answer();
    expect((await ours.read()).reactions).toEqual([]);
    await app.advanceTime(2_000);
    expect((await ours.read()).reactions).toMatchObject([{ emoji: "👍" }]);
    warnings.length = 0;
    for (let minutes = 0; minutes < 130; minutes += 10) {
      await app.advanceTime(600_000);
    }
    expect(warnings).toMatchObject([{ channel_message_id: "wamid.never", type: "reaction" }]);
    const jobs = app.server.database.queries
      .selectFrom("jobs")
      .select("id")
      .where("name", "=", "message.change");
    expect(await jobs.execute()).toEqual([]);
  });

  test("does not open the 24-hour window", async () => {
    const { app, inbox, person, shown, write, reaction, receive } = customer();
    const own = await write("Hello");
    await app.advanceTime(25 * 3_600_000);
    await receive(reaction(own.wamid, "👍"));
    expect((await shown(own.wamid)).reactions).toHaveLength(1);
    const late = sendText(app, inbox, person().to);
    expect(await expectFailure(late)).toMatchObject({ code: "outside_service_window" });
  });
});

test("an erasure deletes reactions, and later ones of the person are dropped", async () => {
  const { app, seconds, write, answer, reaction, receive, eventsOf } = customer();
  await write("Hello");
  const ours = await answer();
  const { conversation_id } = await ours.read();
  await receive(reaction(ours.wamid, "👍", seconds(1)));
  const { data } = await app.call(conversations.get_conversation, { id: conversation_id });
  await app.call(contacts.delete_contact, { id: data.contact_id });
  await app.runDueJobs();
  const events = await eventsOf(() => receive(reaction(ours.wamid, "❤️", seconds(2))));
  expect(events).toEqual([]);
  const row = await app.server.database.queries
    .selectFrom("messages")
    .select("reactions")
    .where("id", "=", ours.id)
    .executeTakeFirstOrThrow();
  expect(row.reactions).toBe(null);
});

test("an erasure deletes waiting changes of the person, and messages that could not be stored", async () => {
  const { app, person, write, reaction, receive } = customer();
  const { queries } = app.server.database;
  const jobsOf = async (table: "jobs" | "dead_jobs") => {
    const rows = await queries.selectFrom(table).select(["name", "payload"]).execute();
    return rows
      .filter(({ payload }) => JSON.stringify(payload).includes(person().to))
      .map(({ name }) => name);
  };
  const { conversation_id } = await write("Hello");
  const { data } = await app.call(conversations.get_conversation, { id: conversation_id });
  await sql`alter table messages add constraint fault check (content #>> '{text,body}' <> 'fault')`.execute(
    queries,
  );
  await receive(inboundText("fault", person().ids));
  for (let attempt = 1; attempt <= 8; attempt += 1) {
    await app.advanceTime(3_600_000);
  }
  await sql`alter table messages drop constraint fault`.execute(queries);
  await receive(reaction("wamid.never", "👎"));
  expect([await jobsOf("jobs"), await jobsOf("dead_jobs")]).toEqual([
    ["message.change"],
    ["message.receive"],
  ]);
  await app.call(contacts.delete_contact, { id: data.contact_id });
  await app.runDueJobs();
  expect([await jobsOf("jobs"), await jobsOf("dead_jobs")]).toEqual([[], []]);
});
