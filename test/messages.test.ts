/** Messages: queued at once, sent at most once, updated by their receipts. */
import { sql } from "kysely";
import { beforeEach, expect, test } from "vitest";
import { contacts } from "../tools/contacts.ts";
import { messages } from "../tools/messages/index.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { openPhone, setFaults } from "./support/simulator.ts";

const app = useTestApp();
beforeEach(() => setFaults(app, {}));

const queries = () => app.server.database.queries;

const text = (to: string, body = "hello") =>
  app.call(messages.send_message, { to, type: "text", text: { body } });

async function reload({ data }: Awaited<ReturnType<typeof text>>) {
  const { id: message_id, conversation_id } = data;
  return (await app.call(messages.get_message, { message_id, conversation_id })).data;
}

test("a text is queued, sent, delivered and read, each with its timestamp", async () => {
  const sent = await text("+14155550141");
  expect(sent.data).toMatchObject({ to: "+14155550141", type: "text", status: "queued" });
  expect(await reload(sent)).toMatchObject({ status: "queued", sent_at: null });
  await app.runDueJobs();
  expect(await reload(sent)).toMatchObject({ status: "sent", delivered_at: null });
  await app.advanceTime(1000);
  expect(await reload(sent)).toMatchObject({ status: "delivered", read_at: null });
  await openPhone(app, "+14155550141").read();
  const read = await reload(sent);
  expect(read.status).toBe("read");
  expect([read.sent_at, read.delivered_at, read.read_at]).toEqual(
    [read.sent_at, read.delivered_at, read.read_at].sort(),
  );
});

test("a text to a contact who has not written is accepted on the simulated channel, with a warning", async () => {
  expect((await text("+14155550142")).data.warnings).toEqual(["outside_service_window"]);
  await openPhone(app, "+14155550142").write("hi");
  expect((await text("+14155550142")).data).not.toHaveProperty("warnings");
});

test("a strict inbox rejects free text outside the window, and fails a queued message whose window closes", async () => {
  await setRule("strict");
  const failure = await expectFailure(text("+14155550143"));
  expect(failure).toMatchObject({ status: 422, code: "outside_service_window" });
  await openPhone(app, "+14155550143").write("hi");
  await setFaults(app, { failures: [{ code: 130429, share: 1 }] });
  const sent = await text("+14155550143");
  await app.runDueJobs();
  await setFaults(app, {});
  await app.advanceTime(25 * 3_600_000);
  expect(await reload(sent)).toMatchObject({ status: "failed", error: { code: "outside_service_window" } });
  await setRule("advisory");
});

test("media is sent by URL, and interactive messages as validated", async () => {
  const to = "+14155550144";
  await app.call(messages.send_message, {
    to,
    type: "image",
    media_url: "https://example.com/cat.png",
    caption: "a cat",
  });
  await app.call(messages.send_message, {
    to,
    type: "interactive",
    interactive: { body: "Sure?", buttons: [{ id: "y", title: "Yes" }] },
  });
  await app.advanceTime(1000);
  const shown = await openPhone(app, to).listMessages();
  expect(shown).toMatchObject([
    { type: "image", media: { url: "https://example.com/cat.png", caption: "a cat" } },
    { type: "interactive", interactive: { body: "Sure?", buttons: [{ id: "y", title: "Yes" }] } },
  ]);
  const { conversation_id } = await openPhone(app, to).write("", {
    text: undefined,
    reply: { id: "y", title: "Yes" },
  });
  const [latest] = (await app.call(messages.list_messages, { conversation_id })).data;
  expect(latest).toMatchObject({
    direction: "inbound",
    type: "interactive",
    reply: { id: "y", title: "Yes" },
  });
});

test("media is sent in the form in which a message shows it", async () => {
  const to = "+14155550158";
  const media = { url: "https://example.com/plan.pdf", caption: "the plan", file_name: "plan.pdf" };
  const sent = await app.call(messages.send_message, { to, type: "document", media });
  const { id: message_id, conversation_id } = sent.data;
  const { data } = await app.call(messages.get_message, { message_id, conversation_id });
  expect(data.media).toEqual(media);
  await app.runDueJobs();
  expect(await openPhone(app, to).listMessages()).toMatchObject([{ type: "document", media }]);
});

test.each([
  [{ type: "text" }, "text"],
  [{ type: "text", text: { body: "x".repeat(4097) } }, "text.body"],
  [{ type: "text", text: { body: " \n" } }, "text.body"],
  [{ type: "audio", media_url: "https://example.com/a.mp3", caption: "x" }, "caption"],
  [{ type: "audio", media: { url: "https://example.com/a.mp3", caption: "x" } }, "media.caption"],
  [{ type: "image" }, "media_url"],
  [{ type: "image", media: { url: "https://example.com/x" }, caption: "x" }, "caption"],
  [{ type: "image", media_url: "ftp://example.com/x" }, "media_url"],
  [{ type: "interactive", interactive: { body: "?" } }, "interactive.buttons"],
  [{ type: "carrier pigeon" }, "type"],
])("%j is rejected with its field", async (input, field) => {
  const answer = await app.fetch("/v1/messages", {
    method: "POST",
    json: { to: "+14155550145", ...input },
  });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ error: { code: "invalid_request", param: field } });
});

test("messages of one conversation reach the phone in the order in which they were sent", {
  tags: "both",
}, async () => {
  const bodies = Array.from({ length: 30 }, (_, number) => `number ${number}`);
  for (const body of bodies) {
    await text("+14155550146", body);
  }
  await app.advanceTime(1000);
  const shown = await openPhone(app, "+14155550146").listMessages();
  expect(shown.map((message) => message.text?.body)).toEqual(bodies);
});

test("a rejection by the channel fails the message with its error", async () => {
  await setFaults(app, { failures: [{ code: 131026, share: 1 }] });
  const sent = await text("+14155550147");
  // The simulated channel reports it that much later.
  const failed_at = new Date(app.now().getTime() + 150).toISOString();
  await app.advanceTime(1000);
  expect(await reload(sent)).toMatchObject({
    status: "failed",
    error: { code: "undeliverable", channel_code: 131026, retryable: false },
    failed_at,
  });
});

test("a send to a busy channel is retried until it is accepted, once", { tags: "both" }, async () => {
  await setFaults(app, { failures: [{ code: 130429, share: 1 }] });
  const sent = await text("+14155550148");
  await app.advanceTime(1000);
  expect(await reload(sent)).toMatchObject({ status: "queued", error: null });
  await setFaults(app, {});
  await app.advanceTime(3_600_000);
  await app.advanceTime(1000);
  expect((await reload(sent)).status).toBe("delivered");
  expect(await openPhone(app, "+14155550148").listMessages()).toHaveLength(1);
});

test("after a lost response the message is looked up, and never sent twice", async () => {
  await setFaults(app, { lost_answers: 1 });
  const sent = await text("+14155550149");
  await app.runDueJobs();
  await setFaults(app, {});
  await app.advanceTime(3_600_000);
  await app.advanceTime(1000);
  expect((await reload(sent)).status).toBe("delivered");
  expect(await openPhone(app, "+14155550149").listMessages()).toHaveLength(1);
});

test("a message whose process died is not sent again while its send may still arrive", async () => {
  const [to, other] = ["+14155550156", "+14155550157"];
  const [sent] = [await text(to), await text(other)];
  await simulateCrashAfterClaim(sent.data.id);
  await sql`update jobs set claimed_by = 'proc_dead', claimed_number = claims`.execute(queries());
  await app.runDueJobs();
  // The process had not yet claimed the other message, only its job.
  expect(await openPhone(app, other).listMessages()).toHaveLength(1);
  expect(await openPhone(app, to).listMessages()).toEqual([]);
  await app.advanceTime(11_000);
  expect(await openPhone(app, to).listMessages()).toEqual([]);
  await app.advanceTime(1_000);
  expect(await openPhone(app, to).listMessages()).toHaveLength(1);
});

test("a message that the channel accepted from a process that died is sent, as soon as its job is taken over", async () => {
  await setFaults(app, { lost_answers: 1 });
  const sent = await text("+14155550158");
  await app.runDueJobs();
  await setFaults(app, {});
  await sql`
    update jobs set claimed_by = 'proc_dead', claimed_number = claims, run_at = ${app.now().toISOString()}
    where payload ->> 'message_id' = ${sent.data.id}
  `.execute(queries());
  await app.runDueJobs();
  expect((await reload(sent)).status).toBe("sent");
});

test("a message claimed before a crash is not sent to a contact erased since", { tags: "both" }, async () => {
  const to = "+14155550154";
  const sent = await text(to);
  await simulateCrashAfterClaim(sent.data.id);
  const [contact] = (await app.call(contacts.list_contacts, { search: to })).data;
  await app.call(contacts.delete_contact, { id: contact?.id ?? "" });
  await app.runDueJobs();
  const row = await findMessageRow(sent.data.id);
  expect(row).toMatchObject({ status: "failed", error: { code: "recipient_erased" } });
  expect(await openPhone(app, to).listMessages()).toEqual([]);
});

test("a message claimed before a crash is not sent after its window has closed", {
  tags: "both",
}, async () => {
  const to = "+14155550155";
  await setRule("strict");
  await openPhone(app, to).write("hi");
  const sent = await text(to);
  await simulateCrashAfterClaim(sent.data.id);
  await app.server.database.queries
    .updateTable("conversations")
    .set({ last_user_message_at: new Date(app.now().getTime() - 25 * 3_600_000).toISOString() })
    .where("id", "=", sent.data.conversation_id)
    .execute();
  await app.runDueJobs();
  expect(await reload(sent)).toMatchObject({ status: "failed", error: { code: "outside_service_window" } });
  await setRule("advisory");
});

test("duplicate, swapped and lost receipts lead to the right state", async () => {
  await setFaults(app, { doubled_receipts: 1, swapped_receipts: 1 });
  const sent = await text("+14155550150");
  await app.advanceTime(5000);
  await openPhone(app, "+14155550150").read();
  await app.advanceTime(5000);
  expect((await reload(sent)).status).toBe("read");
  await setFaults(app, { lost_receipts: 1 });
  const lost = await text("+14155550150");
  await app.advanceTime(5000);
  expect((await reload(lost)).status).toBe("sent");
});

test("an unapproved template is rejected with its name", async () => {
  const template = { name: "order_update", language: "en_US" };
  const call = app.call(messages.send_message, { to: "+14155550154", type: "template", template });
  const failure = await expectFailure(call);
  expect(failure).toMatchObject({ status: 422, code: "template_not_approved" });
  expect(failure.message).toContain("order_update");
});

test("an inbound message received twice is stored once", { tags: "both" }, async () => {
  const first = await openPhone(app, "+14155550151").write("hi", { channel_message_id: "sim_same" });
  const second = await openPhone(app, "+14155550151").write("hi", { channel_message_id: "sim_same" });
  expect(second).toEqual(first);
});

test("a message is not found in another conversation", async () => {
  const { data: mine } = await text("+14155550152");
  const { data: other } = await text("+14155550153");
  const call = app.call(messages.get_message, {
    conversation_id: mine.conversation_id,
    message_id: other.id,
  });
  expect(await expectFailure(call)).toMatchObject({ status: 404, code: "message_not_found" });
});

/** Sets the state after a crash between the claim of a message and the channel's response. */
async function simulateCrashAfterClaim(id: string): Promise<void> {
  const claimed_at = app.now().toISOString();
  const { queries } = app.server.database;
  await queries.updateTable("messages").set({ status: "sending", claimed_at }).where("id", "=", id).execute();
}

function findMessageRow(id: string) {
  const { queries } = app.server.database;
  return queries.selectFrom("messages").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
}

async function setRule(service_window: string): Promise<void> {
  await app.server.database.queries
    .updateTable("inboxes")
    .set({ settings: JSON.stringify({ service_window }) })
    .execute();
}
