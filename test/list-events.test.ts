/** Events by polling: from a cursor, from a time, and from now on. */
import { expect, test } from "vitest";
import type { Scope } from "../tools/contract/index.ts";
import { publicEvents } from "../tools/events.ts";
import { messages } from "../tools/messages/index.ts";
import { notes } from "../tools/notes.ts";
import { webhooks } from "../tools/webhooks.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { createUserKey, trustedProxyEnv } from "./support/users.ts";

const startsAt = new Date("2027-06-01T09:00:00Z");
const app = useTestApp({ startsAt, env: trustedProxyEnv });
const hour = 3_600_000;

const list = async (start: { after?: string; since?: string; types?: string } = {}) =>
  (await app.call(webhooks.list_events, start)).data;
const send = async (body: string) => {
  await app.call(messages.send_message, { to: "+14155550100", type: "text", text: { body } });
  await app.runDueJobs();
};
const typesOf = (events: readonly { readonly type: string; readonly created_at: string }[]) =>
  events.map(({ type, created_at }) => `${type} ${created_at}`);

test("events are read back from a time on, and on with the cursor", async () => {
  await send("one");
  await app.advanceTime(hour);
  const since = app.now().toISOString();
  await send("two");
  const all = await list({ since: startsAt.toISOString() });
  const later = await list({ since });
  expect(later.events.length).toBeGreaterThan(0);
  expect(all.events.slice(-later.events.length)).toEqual(later.events);
  expect(all.events.length).toBeGreaterThan(later.events.length);
  expect(later.events.every(({ created_at }) => created_at >= since)).toBe(true);
  expect((await list({ after: later.cursor })).events).toEqual([]);
  await send("three");
  const { events } = await list({ after: later.cursor });
  expect(typesOf(events)).toEqual(typesOf((await list({ since })).events.slice(later.events.length)));
  expect(events.length).toBeGreaterThan(0);
});

test("a time after the last event gives no event, and a cursor for the next ones", async () => {
  await app.advanceTime(hour);
  const { events, cursor } = await list({ since: new Date(app.now().getTime() + 1).toISOString() });
  expect(events).toEqual([]);
  await send("four");
  expect((await list({ after: cursor })).events.length).toBeGreaterThan(0);
});

test("events of several conversations are read in their order, page by page", async () => {
  const { cursor } = await list();
  for (let number = 0; number < 60; number += 1) {
    await app.advanceTime(1_000);
    const to = `+1415555020${(number * 3) % 4}`;
    await app.call(messages.send_message, { to, type: "text", text: { body: "hello" } });
    await app.runDueJobs();
  }
  const pages = [await list({ after: cursor })];
  while (pages.at(-1)?.events.length) {
    pages.push(await list({ after: pages.at(-1)?.cursor ?? "" }));
  }
  expect(pages.length).toBeGreaterThan(2);
  const events = pages.flatMap((page) => page.events);
  expect(events.filter(({ type }) => type === "message.sent")).toHaveLength(60);
  const times = events.map(({ created_at }) => created_at);
  expect(times).toEqual([...times].sort());
});

test("a wrong cursor is named as one, and not as a message's id", async () => {
  const failure = await expectFailure(app.call(webhooks.list_events, { after: "msg_1" }));
  expect(failure).toMatchObject({
    status: 400,
    code: "invalid_cursor",
    error: { param: "after", message: "msg_1 is not a cursor that list_events returned." },
  });
});

test("a cursor and a time together are refused", async () => {
  const { cursor } = await list();
  const call = app.call(webhooks.list_events, { after: cursor, since: startsAt.toISOString() });
  expect(await expectFailure(call)).toMatchObject({ status: 400, error: { param: "since" } });
});

test("every tool's input schema names what is required, if it is nothing", async () => {
  const response = await app.fetch("/v1/mcp/tools");
  const { data } = (await response.json()) as {
    data: { input_schema: { type: string; properties: object; required: string[] } }[];
  };
  for (const { input_schema } of data) {
    expect(input_schema).toMatchObject({ type: "object", properties: {}, required: expect.any(Array) });
  }
  expect(data.some(({ input_schema }) => input_schema.required.length === 0)).toBe(true);
});

test("without types only the five events of messages are listed, and each other type needs its own scope", async () => {
  const { cursor } = await list();
  const { data: sent } = await app.call(messages.send_message, {
    to: "+14155550107",
    type: "text",
    text: { body: "hi" },
  });
  await app.call(notes.add_note, { conversation_id: sent.conversation_id, text: "Note" });
  await app.advanceTime(10_000);
  const types = new Set((await list({ after: cursor })).events.map(({ type }) => type));
  expect([...types].sort()).toEqual(["message.delivered", "message.sent"]);
  const noted = await list({ after: cursor, types: "note.created, message.sent" });
  expect(noted.events.map(({ type }) => type)).toEqual(["note.created", "message.sent"]);
  expect(await expectFailure(list({ types: "message.sent,nothing" }))).toMatchObject({
    status: 400,
    error: { param: "types" },
  });
});

test.each(Object.entries(publicEvents))("%s is listed to who holds its scope", async (type, { scope }) => {
  const scopes = [...new Set<Scope>(["tokens:read", "inbox:read", scope])];
  const call = (key: string) => app.call(webhooks.list_events, { types: type }, { key });
  expect((await call(await createUserKey(app, scopes))).data.events).toEqual([]);
  const withoutIt = ["tokens:read", "inbox:read"].filter((one) => one !== scope);
  expect(await expectFailure(call(await createUserKey(app, withoutIt)))).toMatchObject({ status: 403 });
});
