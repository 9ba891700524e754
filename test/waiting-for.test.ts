/** What a queued message says that it waits for, since when, and when it is tried again. */
import { expect, test } from "vitest";
import { activity } from "../tools/activity.ts";
import { messages } from "../tools/messages/index.ts";
import { uploads } from "../tools/uploads.ts";
import type { TestApp } from "./support/app.ts";
import { png as onePixelPng } from "./support/files.ts";
import {
  type GraphApi,
  graphError,
  type Inbox,
  openWindow,
  sendText,
  useWhatsApp,
} from "./support/whatsapp.ts";

const minute = 60_000;
let graph: GraphApi;
let app: TestApp;
let inbox: Inbox;
useWhatsApp((started) => {
  ({ graph, app, inbox } = started);
});

/** Each test writes to a person of its own. */
let person = 2000;
async function open(): Promise<string> {
  person += 1;
  await openWindow(app, inbox, `1415555${person}`);
  return `+1415555${person}`;
}

const after = (ms: number) => new Date(app.now().getTime() + ms).toISOString();
const answerOnce = (response: ReturnType<typeof graphError>) => {
  const accept = graph.routes["POST messages"] ?? (() => "hang");
  graph.routes["POST messages"] = () => {
    graph.routes["POST messages"] = accept;
    return response;
  };
};

test("turn: a message behind others, without a time; every answer that shows the message says it", async () => {
  const to = await open();
  answerOnce(graphError(130429, {}, { status: 429, headers: { "retry-after": "60" } }));
  const first = await sendText(app, inbox, to);
  const firstAt = after(0);
  await app.advanceTime(1_000);
  const second = await sendText(app, inbox, to);
  const turn = { reason: "turn", since: after(0), next_attempt_at: null };
  expect((await second.read()).waiting_for).toEqual(turn);
  expect((await first.read()).waiting_for).toMatchObject({ reason: "limit", since: firstAt });

  const { conversation_id } = await second.read();
  const { data: list } = await app.call(messages.list_messages, { conversation_id });
  expect(list.map(({ waiting_for }) => waiting_for?.reason)).toEqual(["turn", "limit", undefined]);
  const { data: context } = await app.call(messages.get_conversation_context, { id: conversation_id });
  expect(context.messages.map(({ waiting_for }) => waiting_for?.reason)).toEqual([
    undefined,
    "limit",
    "turn",
  ]);
  const { data: history } = await app.call(activity.explain_message, { id: second.id });
  expect(history.message.waiting_for).toEqual(turn);

  await app.advanceTime(minute);
  expect(await second.read()).toMatchObject({ status: "sent" });
  expect(await second.read()).not.toHaveProperty("waiting_for");
});

test("limit: since stays while the same limit holds, and no error is shown for our own quota", async () => {
  const to = await open();
  answerOnce(graphError(131056));
  const message = await sendText(app, inbox, to);
  const since = after(0);
  answerOnce(graphError(131056));
  await app.advanceTime(1_000);
  expect((await message.read()).waiting_for).toMatchObject({
    reason: "limit",
    since,
    next_attempt_at: after(4_000),
    attempts: 2,
    last_error: { code: "pair_limit", channel_code: 131056 },
  });

  const other = await open();
  const { queries } = app.server.database;
  const { id, read } = await sendText(app, inbox, other);
  await queries
    .updateTable("messages")
    .set({ quota_full_at: after(45 * 6_000) })
    .where("id", "=", id)
    .execute();
  const waiting = await sendText(app, inbox, other);
  expect((await read()).status).toBe("sent");
  expect((await waiting.read()).waiting_for).toEqual({
    reason: "limit",
    since: after(0),
    next_attempt_at: after(6_000),
  });
});

test("file: a file that could not be uploaded, and outage: an API that says it is down", async () => {
  const to = await open();
  graph.routes["POST media"] = () => "break";
  const content_base64 = onePixelPng.toString("base64");
  const { data: file } = await app.call(uploads.upload_file, { content_base64, file_name: "a.png" });
  const image = { type: "image" as const, media_url: file.storage_url, inbox_id: inbox.id };
  const { data: sent } = await app.call(messages.send_message, { to, ...image });
  await app.runDueJobs();
  const { conversation_id, id: message_id } = sent;
  const { data } = await app.call(messages.get_message, { conversation_id, message_id });
  expect(data.waiting_for).toMatchObject({ reason: "file", since: after(0), next_attempt_at: after(10_000) });

  answerOnce(graphError(131016, {}, { status: 503 }));
  const { read } = await sendText(app, inbox, await open());
  expect((await read()).waiting_for).toMatchObject({
    reason: "outage",
    next_attempt_at: after(30_000),
    last_error: { code: "channel_unavailable" },
  });
});

test("stop: also a message that has not been tried; the time of the next attempt is the inbox's", async () => {
  const to = await open();
  answerOnce(graphError(190, {}, { status: 401 }));
  await sendText(app, inbox, to);
  const stop = { reason: "stop", since: after(0), next_attempt_at: after(5 * minute) };
  const last_error = { code: "channel_error", channel_code: 190 };
  const { read } = await sendText(app, inbox, to);
  expect((await read()).waiting_for).toMatchObject({ ...stop, last_error });
  expect((await read()).waiting_for).not.toHaveProperty("attempts");
  await app.advanceTime(5 * minute);
  expect((await read()).status).toBe("sent");
});

test("confirmation: a message whose process ended during the send, with the time of the send", async () => {
  const to = await open();
  const { id, read } = await sendText(app, inbox, to);
  const { queries } = app.server.database;
  const store = (change: object) =>
    queries.updateTable("messages").set(change).where("id", "=", id).execute();
  const claimed_at = after(0);
  await store({ status: "sending", claimed_at });
  expect((await read()).waiting_for).toEqual({ reason: "turn", since: claimed_at, next_attempt_at: null });
  await app.advanceTime(12_001);
  const confirmation = { reason: "confirmation", since: claimed_at, next_attempt_at: null };
  expect((await read()).waiting_for).toEqual(confirmation);
  await app.advanceTime(30 * minute);
  expect((await read()).waiting_for).toEqual(confirmation);

  // As an earlier version stored it.
  const delay = JSON.stringify({ attempts: 1, last_error: null, next_attempt_at: null });
  await store({ delay });
  expect((await read()).waiting_for).toMatchObject(confirmation);
  await store({ status: "queued", claimed_at: null });
  const { created_at } = await read();
  expect((await read()).waiting_for).toEqual({ ...confirmation, since: created_at, attempts: 1 });
});
