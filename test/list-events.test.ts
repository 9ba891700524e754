/** Events by polling: from a cursor, from a time, and from now on. */
import { expect, test } from "vitest";
import type { Scope } from "../tools/contract/index.ts";
import { publicEvents } from "../tools/events.ts";
import { messages } from "../tools/messages/index.ts";
import { notes } from "../tools/notes.ts";
import { webhooks } from "../tools/webhooks.ts";
import { ownerEmail, ownerPassword, useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { createUserKey, signIn, trustedProxyEnv } from "./support/users.ts";

const startsAt = new Date("2027-06-01T09:00:00Z");
const app = useTestApp({ startsAt, env: trustedProxyEnv });
const hour = 3_600_000;

const list = (start: { after?: string; since?: string; types?: string } = {}) =>
  app.call(webhooks.list_events, start);
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
  expect(later.data.length).toBeGreaterThan(0);
  expect(all.data.slice(-later.data.length)).toEqual(later.data);
  expect(all.data.length).toBeGreaterThan(later.data.length);
  expect(later.data.every(({ created_at }) => created_at >= since)).toBe(true);
  expect((await list({ after: later.meta.cursor })).data).toEqual([]);
  await send("three");
  const { data: events } = await list({ after: later.meta.cursor });
  expect(typesOf(events)).toEqual(typesOf((await list({ since })).data.slice(later.data.length)));
  expect(events.length).toBeGreaterThan(0);
});

test("a time after the last event gives no event, and a cursor for the next ones", async () => {
  await app.advanceTime(hour);
  const { data: events, meta } = await list({ since: new Date(app.now().getTime() + 1).toISOString() });
  expect(events).toEqual([]);
  await send("four");
  expect((await list({ after: meta.cursor })).data.length).toBeGreaterThan(0);
});

test("events of several conversations are read in their order, page by page", async () => {
  const { meta } = await list();
  for (let number = 0; number < 60; number += 1) {
    await app.advanceTime(1_000);
    const to = `+1415555020${(number * 3) % 4}`;
    await app.call(messages.send_message, { to, type: "text", text: { body: "hello" } });
    await app.runDueJobs();
  }
  const pages = [await list({ after: meta.cursor })];
  while (pages.at(-1)?.data.length) {
    pages.push(await list({ after: pages.at(-1)?.meta.cursor ?? "" }));
  }
  expect(pages.length).toBeGreaterThan(2);
  const events = pages.flatMap((page) => page.data);
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
  const { meta } = await list();
  const call = app.call(webhooks.list_events, { after: meta.cursor, since: startsAt.toISOString() });
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

test("without types only the five events of messages are listed", async () => {
  const { meta } = await list();
  const { data: sent } = await app.call(messages.send_message, {
    to: "+14155550107",
    type: "text",
    text: { body: "hi" },
  });
  const { conversation_id } = sent;
  await app.call(notes.add_note, { conversation_id, text: "Note" });
  await app.advanceTime(10_000);
  const typesIn = async (types?: string) => {
    const { data: events } = await list({ after: meta.cursor, ...(types === undefined ? {} : { types }) });
    return events.filter(({ data }) => data.conversation_id === conversation_id).map(({ type }) => type);
  };
  expect((await typesIn()).sort()).toEqual(["message.delivered", "message.sent"]);
  expect(await typesIn("note.created, message.sent")).toEqual(["note.created", "message.sent"]);
  expect(await expectFailure(list({ types: "message.sent,nothing" }))).toMatchObject({
    status: 400,
    error: { param: "types" },
  });
});

const needed: readonly Scope[] = ["tokens:read", "inbox:read"];

test("each type is listed with its own scope, and not without it", async () => {
  const { access_token } = await signIn(app, ownerEmail, ownerPassword);
  const call = async (types: string, scopes: readonly Scope[]) =>
    app.call(webhooks.list_events, { types }, { key: await createUserKey(app, scopes, access_token) });
  for (const [type, { scope }] of Object.entries(publicEvents)) {
    expect((await call(type, [...new Set([...needed, scope])])).data).toEqual([]);
    const others = needed.filter((one) => one !== scope);
    expect(await expectFailure(call(type, others)), type).toMatchObject({ status: 403 });
  }
});

test("a cursor of a database that was restored is rejected by one that was not", async () => {
  const { meta } = await list();
  const failure = await expectFailure(list({ after: `${meta.cursor}~0123456789ab` }));
  expect(failure).toMatchObject({ status: 400, code: "invalid_cursor" });
});
