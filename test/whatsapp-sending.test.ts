/**
 * Sending by the Cloud API: at most once, what each error means, files, and how often a person is written to.
 */
import { beforeEach, describe, expect, test } from "vitest";
import { inboxes } from "../tools/inboxes.ts";
import { messages } from "../tools/messages/index.ts";
import { uploads } from "../tools/uploads.ts";
import type { TestApp } from "./support/app.ts";
import { png as onePixelPng } from "./support/files.ts";
import {
  credentials,
  deliver,
  type GraphApi,
  graphError,
  type Inbox,
  inboundText,
  messagesChange,
  openWindow,
  sendText,
  useWhatsApp,
} from "./support/whatsapp.ts";

const minute = 60_000;
const bsuid = "US.13491208655302741918";
let graph: GraphApi;
let app: TestApp;
let inbox: Inbox;
let working: GraphApi["routes"];

useWhatsApp((started) => {
  ({ graph, app, inbox } = started);
  working = { ...graph.routes };
});

/** Each test writes to a person of its own. */
let person = 1000;
beforeEach(async () => {
  Object.assign(graph.routes, working);
  person += 1;
  await openWindow(app, inbox, `1415555${person}`);
  graph.requests.length = 0;
});
const to = () => `+1415555${person}`;
const send = () => sendText(app, inbox, to());

const answer = (...responses: ReturnType<typeof graphError>[]) => {
  const accept = working["POST messages"];
  graph.routes["POST messages"] = (request) => responses.shift() ?? accept?.(request) ?? "hang";
};

const health = async () =>
  (await app.call(inboxes.list_inboxes, {})).data.find(({ id }) => id === inbox.id)?.health;

test("a message goes to the number's account, with its id for the receipts", async () => {
  const { id, read } = await send();
  expect(graph.requests[0]?.path).toBe("/v26.0/106540352242922/messages");
  expect(graph.sent()).toEqual([
    {
      messaging_product: "whatsapp",
      recipient_type: "individual",
      to: to(),
      type: "text",
      text: { body: "hello" },
      biz_opaque_callback_data: id,
    },
  ]);
  expect(await read()).toMatchObject({ status: "sent" });
});

test("a person who hides the number is written to as recipient, never in to", async () => {
  const timestamp = String(Math.floor(app.now().getTime() / 1000));
  const hidden = inboundText("Hi", { from: undefined, from_user_id: bsuid, timestamp });
  await deliver(app, inbox, messagesChange({ messages: [hidden] }));
  await sendText(app, inbox, bsuid);
  expect(graph.sent()[0]).toMatchObject({ recipient: bsuid });
  expect(graph.sent()[0]).not.toHaveProperty("to");
});

describe("an answer that is lost", () => {
  test.each([
    "break",
    { status: 502, body: "<html>" },
    { status: 302, headers: { location: "https://example.com" } },
  ] as const)("%j is no failure: the receipt with our id tells, and nothing is sent again", async (lost) => {
    answer(lost);
    const { id, read } = await send();
    await app.advanceTime(20 * minute);
    expect(graph.sent().length).toBe(1);
    const last_error = { code: "unconfirmed", title: expect.stringContaining("is not sent again") };
    const waiting_for = { reason: "confirmation", last_error, next_attempt_at: null };
    expect(await read()).toMatchObject({ status: "queued", waiting_for });
    const status = { id: `wamid.lost-${id}`, status: "delivered", timestamp: "1772998034" };
    const statuses = [{ ...status, biz_opaque_callback_data: id }];
    await deliver(app, inbox, messagesChange({ statuses }));
    expect((await read()).status).toBe("delivered");
    await app.advanceTime(25 * 60 * minute);
    expect(graph.sent().length).toBe(1);
  });

  test("without a receipt within a day, the message fails as unconfirmed and was sent once", async () => {
    answer("break");
    const { read } = await send();
    await app.advanceTime(12 * 60 * minute);
    await app.advanceTime(13 * 60 * minute);
    expect(await read()).toMatchObject({ status: "failed", error: { code: "unconfirmed" } });
    expect(graph.sent().length).toBe(1);
  });
});

describe("an error", () => {
  test("that is permanent fails the message with Meta's code and text", async () => {
    answer(graphError(131026, { error_data: { details: "Receiver is incapable" } }));
    const { read } = await send();
    expect(await read()).toMatchObject({
      status: "failed",
      error: { code: "undeliverable", channel_code: 131026, detail: "Receiver is incapable" },
    });
  });

  test("that a test number gives for a person who is not in its list says what to do", async () => {
    answer(graphError(131030));
    const { read } = await send();
    expect((await read()).error).toMatchObject({
      code: "recipient_not_listed",
      channel_code: 131030,
      hint: expect.stringContaining("add the recipient to its list"),
    });
  });

  test.each([
    ["Retry-After", graphError(130429, {}, { status: 429, headers: { "retry-after": "30" } }), 30_000],
    [
      "the minutes until access is regained",
      graphError(
        80007,
        {},
        {
          headers: { "x-business-use-case-usage": '{"1":[{"estimated_time_to_regain_access":2}]}' },
        },
      ),
      2 * minute,
    ],
    ["429 without a body", { status: 429, body: "" }, minute],
  ])("that is a limit is tried again after %s", async (_, limit, waitMs) => {
    answer(limit);
    const { read } = await send();
    const next_attempt_at = new Date(app.now().getTime() + waitMs).toISOString();
    const waiting_for = { reason: "limit", attempts: 1, next_attempt_at };
    expect((await read()).waiting_for).toMatchObject(waiting_for);
    await app.advanceTime(waitMs - 1);
    expect([graph.sent().length, (await read()).status]).toEqual([1, "queued"]);
    await app.advanceTime(1);
    expect([graph.sent().length, (await read()).status]).toEqual([2, "sent"]);
  });

  test("that limits one person waits 1, 4 and 16 seconds", async () => {
    const limit = graphError(131056);
    answer(limit, limit, limit);
    const { read } = await send();
    for (const [index, seconds] of [1, 4, 16].entries()) {
      await app.advanceTime(seconds * 1000 - 1);
      expect(graph.sent().length).toBe(index + 1);
      await app.advanceTime(1);
    }
    expect([graph.sent().length, (await read()).status]).toEqual([4, "sent"]);
  });

  test("that may pass is tried three times", async () => {
    const error = graphError(131000, {}, { status: 500 });
    answer(error, error, error, error);
    const { read } = await send();
    await app.advanceTime(5_000);
    await app.advanceTime(5_000);
    await app.advanceTime(minute);
    expect(await read()).toMatchObject({ status: "failed", error: { channel_code: 131000 } });
    expect(graph.sent().length).toBe(3);
  });

  test("of the account stops the inbox, whose messages wait until one is accepted", async () => {
    answer(graphError(190, { error_subcode: 463 }, { status: 401 }));
    const first = await send();
    expect(await health()).toMatchObject({ status: "stopped", code: 190, reason: "(#190) Title" });
    const second = await send();
    expect(graph.sent().length).toBe(1);
    const next_attempt_at = new Date(app.now().getTime() + 5 * minute).toISOString();
    const last_error = { channel_code: 190, title: "(#190) Title" };
    const stop = { reason: "stop", last_error, next_attempt_at };
    expect((await first.read()).waiting_for).toMatchObject({ attempts: 1, ...stop });
    // It has not been tried: it is behind the first.
    expect((await second.read()).waiting_for).toMatchObject(stop);
    await openWindow(app, inbox, "14155559999");
    const other = await sendText(app, inbox, "+14155559999");
    expect((await other.read()).waiting_for).toMatchObject(stop);
    await app.advanceTime(5 * minute);
    expect([(await first.read()).status, (await second.read()).status]).toEqual(["sent", "sent"]);
    expect(await health()).toEqual({ status: "ok", code: null, reason: null, since: null });
  });

  test("of the account that is put right with new credentials ends the wait at once", async () => {
    answer(graphError(190, {}, { status: 401 }));
    const waiting = [await send(), await send()];
    await app.call(inboxes.update_inbox, { id: inbox.id, credentials });
    expect((await health())?.status).toBe("ok");
    await app.runDueJobs();
    expect(await Promise.all(waiting.map(async ({ read }) => (await read()).status))).toEqual([
      "sent",
      "sent",
    ]);
  });

  test("of a failed receipt stops the inbox too", async () => {
    const { id } = await send();
    const errors = [{ code: 131042, title: "Business eligibility payment issue" }];
    const status = { id: "wamid.x", status: "failed", timestamp: "1772998034", errors };
    await deliver(app, inbox, messagesChange({ statuses: [{ ...status, biz_opaque_callback_data: id }] }));
    expect(await health()).toMatchObject({ status: "stopped", code: 131042 });
    await app.advanceTime(5 * minute);
    await send();
    expect((await health())?.status).toBe("ok");
  });
});

describe("a file", () => {
  const sendImage = async (media_url: string) => {
    await app.call(messages.send_message, { to: to(), type: "image", media_url, inbox_id: inbox.id });
    await app.runDueJobs();
  };

  test("of our own store is uploaded once and sent by its id", async () => {
    graph.routes["POST media"] = () => ({ body: { id: "4711" } });
    const content_base64 = onePixelPng.toString("base64");
    const { data } = await app.call(uploads.upload_file, { content_base64, file_name: "a.png" });
    await sendImage(data.storage_url);
    await sendImage(data.storage_url);
    expect(graph.sent().map(({ image }) => image)).toEqual([{ id: "4711" }, { id: "4711" }]);
    const uploaded = graph.requests.filter(({ path }) => path.endsWith("/media"));
    expect(uploaded.length).toBe(1);
    const form = uploaded[0]?.body as Buffer;
    expect(form.includes(onePixelPng)).toBe(true);
    expect(form.toString("latin1")).toContain('name="messaging_product"\r\n\r\nwhatsapp\r\n');
    expect(form.toString("latin1")).toContain('name="type"\r\n\r\nimage/png\r\n');
  });

  test("elsewhere is sent by its address", async () => {
    await sendImage("https://example.com/a.png");
    expect(graph.sent()[0]?.image).toEqual({ link: "https://example.com/a.png" });
  });

  test("that can't be uploaded is tried again, and nothing is sent without it", async () => {
    graph.routes["POST media"] = () => "break";
    const content_base64 = onePixelPng.toString("base64");
    const { data } = await app.call(uploads.upload_file, { content_base64, file_name: "b.png" });
    await sendImage(data.storage_url);
    expect(graph.sent()).toEqual([]);
    graph.routes["POST media"] = () => ({ body: { id: "4712" } });
    await app.advanceTime(10_000);
    expect(graph.sent().map(({ image }) => image)).toEqual([{ id: "4712" }]);
  });
});

test("a person gets 45 messages at once, and then one in 6 seconds", async () => {
  for (let count = 0; count < 47; count += 1) {
    const text = { body: `message ${count}` };
    await app.call(messages.send_message, { to: to(), type: "text", text, inbox_id: inbox.id });
  }
  // The rate of the number spreads them over the second.
  for (let tenth = 0; tenth < 10; tenth += 1) {
    await app.advanceTime(100);
  }
  expect(graph.sent().length).toBe(45);
  await app.advanceTime(5_000);
  expect(graph.sent().length).toBe(46);
  await app.advanceTime(6_000);
  expect(graph.sent().length).toBe(47);
});

test("a WhatsApp inbox sends 80 messages in a second, or as many as its setting says", async () => {
  const rate = async () => {
    const { queries } = app.server.database;
    const lane = queries
      .selectFrom("paced_lanes")
      .select("rate_per_second")
      .where("lane", "like", `%${inbox.id}`);
    return (await lane.executeTakeFirst())?.rate_per_second;
  };
  expect(await rate()).toBe(80);
  await app.call(inboxes.update_inbox, { id: inbox.id, settings: { messages_per_second: 1000 } });
  expect(await rate()).toBe(1000);
  await app.call(inboxes.update_inbox, { id: inbox.id, settings: {} });
  expect(await rate()).toBe(80);
});
