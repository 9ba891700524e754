/** A channel that can't be reached: its messages, the inbox's health, the events and the log say so. */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { describeNoAnswer } from "../src/adapters/channel/whatsapp/http.ts";
import { modules } from "../src/platform/index.ts";
import { contacts } from "../tools/contacts.ts";
import { inboxes } from "../tools/inboxes.ts";
import { messages } from "../tools/messages/index.ts";
import { uploads } from "../tools/uploads.ts";
import { webhooks } from "../tools/webhooks.ts";
import type { TestApp } from "./support/app.ts";
import { png as onePixelPng } from "./support/files.ts";
import { startUpstream, type Upstream } from "./support/scripted-service.ts";
import {
  type GraphApi,
  graphError,
  type Inbox,
  openWindow,
  sendText,
  startGraphApi,
  startWhatsAppApp,
} from "./support/whatsapp.ts";
import { createWorldProbe } from "./support/world.ts";

const second = 1_000;
const { probe, readWorld } = createWorldProbe();
let graph: GraphApi;
let app: TestApp;
let inbox: Inbox;

beforeAll(async () => {
  graph = await startGraphApi();
  ({ app, inbox } = await startWhatsAppApp(graph, { enabledModules: { ...modules, probe } }));
});
afterAll(() => app[Symbol.asyncDispose]());

const health = async (id = inbox.id) =>
  (await app.call(inboxes.list_inboxes, {})).data.find((each) => each.id === id)?.health;

const reports = async () => {
  const { data: events } = await app.call(webhooks.list_events, {
    since: new Date(0).toISOString(),
    types: "inbox.health",
  });
  return events.flatMap(({ type, data }) => (type === "inbox.health" ? [data] : []));
};

test("refused connections are shown on the message at once, and of the inbox from the second attempt", async () => {
  await openWindow(app, inbox);
  await graph[Symbol.asyncDispose]();
  const { log } = await readWorld(app);
  const logged = vi.spyOn(log, "error");
  const message = await sendText(app, inbox);
  const failedAt = app.now().getTime();
  const last_error = {
    code: "channel_unreachable",
    channel_code: null,
    title: "WhatsApp can't be reached",
    detail: null,
  };
  expect(await message.read()).toMatchObject({
    status: "queued",
    waiting_for: {
      reason: "outage",
      since: new Date(failedAt).toISOString(),
      next_attempt_at: new Date(failedAt + 10 * second).toISOString(),
      attempts: 1,
      last_error,
    },
  });
  expect(await health()).toMatchObject({ status: "ok" });

  await app.advanceTime(10 * second);
  const unreachable = { status: "unreachable", code: null, reason: "WhatsApp can't be reached" };
  expect((await message.read()).waiting_for).toMatchObject({
    attempts: 2,
    since: new Date(failedAt).toISOString(),
  });
  expect(await health()).toEqual({ ...unreachable, since: app.now().toISOString() });

  await app.advanceTime(10 * second);
  expect((await message.read()).waiting_for).toMatchObject({ attempts: 3 });
  expect(await reports()).toEqual([{ inbox_id: inbox.id, ...unreachable }]);
  const lines = logged.mock.calls.filter(([, text]) => text === "The channel of an inbox can't be reached");
  expect(lines).toHaveLength(1);

  await using _ = await reopen(graph);
  await app.advanceTime(10 * second);
  expect(await message.read()).toMatchObject({ status: "sent" });
  expect(await message.read()).not.toHaveProperty("waiting_for");
  const ok = { status: "ok", code: null, reason: null };
  expect(await health()).toEqual({ ...ok, since: null });
  expect((await reports()).at(-1)).toEqual({ inbox_id: inbox.id, ...ok });
});

test("a message without an answer in time is shown, and other messages leave at once", async () => {
  const { channels } = await readWorld(app);
  const send = vi.spyOn(channels.simulator ?? expect.fail("no simulated channel"), "send");
  const timers = vi.spyOn(globalThis, "setTimeout");
  send.mockImplementationOnce((_, { signal, requireClaim }) => {
    requireClaim();
    const [passTimeLimit] = timers.mock.calls.findLast(([, ms = 0]) => ms > 9_000 && ms <= 10_000) ?? [];
    passTimeLimit?.();
    return Promise.reject(signal.reason);
  });
  const { data } = await app.call(inboxes.list_inboxes, {});
  const simulated = data.find(({ channel }) => channel !== "whatsapp") ?? expect.fail("no simulated inbox");
  await sendText(app, simulated, "+14155550161");
  timers.mockRestore();
  const reason = "The channel did not answer within 10 seconds";
  expect(await health(simulated.id)).toMatchObject({ status: "unreachable", reason });
  expect(await (await sendText(app, simulated, "+14155550162")).read()).toMatchObject({ status: "sent" });
  expect(await health(simulated.id)).toMatchObject({ status: "ok" });
});

test.each([
  {
    name: "a gateway's error page",
    answer: { status: 502, body: "<html>Bad Gateway</html>" },
    reason: "WhatsApp answered with the HTTP status 502",
  },
  { name: "a broken connection", answer: "break", reason: "The connection to WhatsApp broke" },
] as const)("$name instead of an answer is shown of the inbox at once", async ({ answer, reason }) => {
  await using _ = await reopen(graph);
  await openWindow(app, inbox, "14155550167");
  expect(await (await sendText(app, inbox, "+14155550167")).read()).toMatchObject({ status: "sent" });
  vi.spyOn(graph.routes, "POST messages").mockReturnValueOnce(answer);
  const message = await sendText(app, inbox, "+14155550167");
  await app.advanceTime(10 * second);
  expect(await health()).toMatchObject({ status: "unreachable", reason });
  expect(await message.read()).toMatchObject({
    waiting_for: { reason: "confirmation", last_error: { code: "unconfirmed" } },
  });
  expect(await (await sendText(app, inbox, "+14155550167")).read()).toMatchObject({ status: "sent" });
  expect(await health()).toMatchObject({ status: "ok" });
});

test("an inbox that can't send is a warning of a send and of the conversation", async () => {
  await using _ = await reopen(graph);
  await openWindow(app, inbox, "14155550169");
  const text = { type: "text" as const, text: { body: "hello" }, inbox_id: inbox.id };
  const send = async () => {
    const { data } = await app.call(messages.send_message, { to: "+14155550169", ...text });
    await app.runDueJobs();
    return data;
  };
  const warnings = async (id: string) =>
    (await app.call(messages.get_conversation_context, { id })).data.warnings.map(({ code }) => code);
  await send();
  const { warnings: none, conversation_id } = await send();
  expect([none, await warnings(conversation_id)]).toEqual([undefined, []]);

  vi.spyOn(graph.routes, "POST messages").mockReturnValueOnce({ status: 502 });
  await send();
  expect(await warnings(conversation_id)).toEqual(["inbox_unreachable"]);
  await app.advanceTime(10 * second);
  expect((await send()).warnings).toEqual(["inbox_unreachable"]);
  expect(await warnings(conversation_id)).toEqual([]);

  vi.spyOn(graph.routes, "POST messages").mockReturnValueOnce(graphError(190));
  await send();
  expect(await warnings(conversation_id)).toEqual(["inbox_stopped"]);
  expect((await send()).warnings).toEqual(["inbox_stopped"]);
  await app.advanceTime(300 * second);
  expect(await warnings(conversation_id)).toEqual([]);
});

test("a file that can't be uploaded without a connection is shown of the inbox from the second attempt", async () => {
  await openWindow(app, inbox, "14155550168");
  const content_base64 = onePixelPng.toString("base64");
  const { data } = await app.call(uploads.upload_file, { content_base64, file_name: "a.png" });
  const image = { type: "image" as const, media_url: data.storage_url, inbox_id: inbox.id };
  await app.call(messages.send_message, { to: "+14155550168", ...image });
  await app.runDueJobs();
  expect(await health()).toMatchObject({ status: "ok" });
  await app.advanceTime(10 * second);
  expect(await health()).toMatchObject({ status: "unreachable", reason: "WhatsApp can't be reached" });
});

test.each([
  ["UND_ERR_HEADERS_TIMEOUT", "WhatsApp did not answer in time"],
  ["UND_ERR_BODY_TIMEOUT", "WhatsApp did not answer in time"],
  ["UND_ERR_SOCKET", "The connection to WhatsApp broke"],
  ["UND_ERR_INVALID_ARG", undefined],
])("the HTTP client's error %s means: %s", (code, reason) => {
  expect(describeNoAnswer(Object.assign(new Error("It failed."), { code }))).toBe(reason);
});

test("the end of a request's time means no answer", () => {
  const late = new DOMException("The call took longer than 8000 ms.", "TimeoutError");
  expect(describeNoAnswer(late)).toBe("WhatsApp did not answer in time");
});

test("a send whose time a slow database took says nothing of the channel", async () => {
  const { channels } = await readWorld(app);
  const simulator = channels.simulator ?? expect.fail("no simulated channel");
  const monotonic = performance.now.bind(performance);
  vi.spyOn(simulator, "send").mockImplementationOnce(async (_, { requireClaim }) => {
    const clock = vi.spyOn(performance, "now").mockImplementation(() => monotonic() + 9_000);
    requireClaim();
    clock.mockImplementation(() => monotonic() + 10_000);
    expect(requireClaim).toThrow("The claim ended");
    clock.mockRestore();
    throw new Error("The request was aborted.");
  });
  const { data } = await app.call(inboxes.list_inboxes, {});
  const simulated = data.find(({ channel }) => channel !== "whatsapp") ?? expect.fail("no simulated inbox");
  await sendText(app, simulated, "+14155550166");
  expect(simulator.send).toHaveBeenCalled();
  expect(await health(simulated.id)).toMatchObject({ status: "ok" });
});

test("the erasure of a contact forgets what the channel said of a message", async () => {
  await openWindow(app, inbox, "14155550165");
  const message = await sendText(app, inbox, "+14155550165");
  const { waiting_for } = await message.read();
  expect(waiting_for).toMatchObject({ attempts: 1 });
  const { data } = await app.call(contacts.list_contacts, { search: "+14155550165" });
  await app.call(contacts.delete_contact, { id: data[0]?.id ?? "" });
  await app.runDueJobs();
  const { database } = app.server;
  const rows = await database.queries
    .selectFrom("messages")
    .select(["delay"])
    .where("id", "=", message.id)
    .execute();
  expect(rows).toEqual([{ delay: null }]);
});

/** The API at its address again. */
function reopen({ url, respond }: GraphApi): Promise<Upstream> {
  return startUpstream(respond, Number(new URL(url).port));
}
