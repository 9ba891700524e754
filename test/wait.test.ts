/** Waiting for messages: each is returned exactly once, in any order of commits. */
import { EventEmitter, once, setMaxListeners } from "node:events";
import { expect, test, vi } from "vitest";
import { newId } from "../src/database/id.ts";
import { readCursor, writeCursor } from "../src/platform/inbox/messages/waiting/cursor.ts";
import { apiKeys } from "../tools/api-keys.ts";
import { auth } from "../tools/auth.ts";
import { contacts } from "../tools/contacts.ts";
import { messages } from "../tools/messages/index.ts";
import { startTestApp, type TestApp, useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { iterations } from "./support/iterations.ts";
import { meanwhile } from "./support/meanwhile.ts";
import { createOtherTenant } from "./support/other-tenant.ts";
import { openPhone } from "./support/simulator.ts";
import { startWaiting } from "./support/waiting.ts";

const app = useTestApp();

interface Wait {
  readonly conversation_id?: string;
  readonly after?: string;
  readonly timeout_seconds?: number;
}

const wait = (input: Wait, options: { key?: string; signal?: AbortSignal } = {}) =>
  app.call(messages.wait_for_message, input, options);
const secrets = { secret: "s".repeat(32), previousSecret: undefined };
const currentCursor = async () => (await wait({ timeout_seconds: 0 })).meta.cursor;
const bodies = (list: readonly { text: { body: string } | null }[]) => list.map(({ text }) => text?.body);

test("messages after the cursor are returned at once, oldest first", async () => {
  const after = await currentCursor();
  await openPhone(app, "+14155550601").write("one");
  await openPhone(app, "+14155550602").write("two");
  const answer = await wait({ after });
  expect(answer).toMatchObject({ meta: { is_timed_out: false } });
  expect(bodies(answer.data)).toEqual(["one", "two"]);
  expect((await wait({ after: answer.meta.cursor, timeout_seconds: 0 })).data).toEqual([]);
});

test("a waiting call returns when a contact writes", async () => {
  const { answer } = await startWaiting(() => wait({}));
  await openPhone(app, "+14155550603").write("at last");
  expect(bodies((await answer).data)).toEqual(["at last"]);
});

test("a wait for one conversation ignores other conversations and outbound messages", async () => {
  const { conversation_id } = await openPhone(app, "+14155550604").write("first");
  const { answer } = await startWaiting(() => wait({ conversation_id }));
  await openPhone(app, "+14155550605").write("other");
  await app.call(messages.send_message, { to: "+14155550604", type: "text", text: { body: "ours" } });
  await openPhone(app, "+14155550604").write("second");
  expect(bodies((await answer).data)).toEqual(["second"]);
});

test("a timed-out wait returns no messages, and a cursor that continues there", async () => {
  const after = await currentCursor();
  const waiting = await startWaiting(() => wait({ after, timeout_seconds: 30 }));
  await app.advanceTime(31_000);
  const answer = await waiting.answer;
  expect(answer).toMatchObject({ data: [], meta: { is_timed_out: true } });
  await openPhone(app, "+14155550606").write("late");
  expect(bodies((await wait({ after: answer.meta.cursor })).data)).toEqual(["late"]);
});

test("a wait after a sent message returns the reply", async () => {
  const to = "+14155550607";
  await openPhone(app, to).write("before");
  const { data } = await app.call(messages.send_message, { to, type: "text", text: { body: "well?" } });
  const [answer] = await Promise.all([
    wait({ conversation_id: data.conversation_id, after: data.id }),
    openPhone(app, to).write("well!"),
  ]);
  expect(bodies(answer.data)).toEqual(["well!"]);
});

test.each([
  "nonsense",
  "msg_00000000000000000000000000",
  Buffer.from("[1,2]").toString("base64url"),
  Buffer.from('["0.5","msg_00000000000000000000000000",null,null]').toString("base64url"),
  Buffer.from('["2.5.9","msg_00000000000000000000000000",null,null]').toString("base64url"),
])("%s is not a valid cursor", async (after) => {
  const failure = await expectFailure(wait({ after }));
  expect(failure).toMatchObject({ status: 400, code: "invalid_cursor", error: { param: "after" } });
});

test("another tenant's message is not a valid cursor, and its messages are not returned", async () => {
  const other = await createOtherTenant(app);
  expect(await expectFailure(wait({ after: other.message_id }))).toMatchObject({
    code: "invalid_cursor",
  });
  const theirs = expectFailure(wait({ conversation_id: other.conversation_id }));
  expect(await theirs).toMatchObject({ status: 404, code: "conversation_not_found" });
  const { cursor: after } = (await wait({ timeout_seconds: 0 }, { key: other.key })).meta;
  await openPhone(app, "+14155550608").write("ours");
  expect((await wait({ after, timeout_seconds: 0 }, { key: other.key })).data).toEqual([]);
});

test("many messages are returned in pages of 20, with short cursors", async () => {
  let after = await currentCursor();
  const sent = Array.from({ length: 45 }, (_, number) => `burst ${number}`);
  for (const body of sent) {
    await openPhone(app, "+14155550609").write(body);
  }
  const pages: (string | undefined)[][] = [];
  for (let left = 4; left > 0; left -= 1) {
    const answer = await wait({ after, timeout_seconds: 0 });
    expect(answer.meta.cursor.length).toBeLessThan(300);
    pages.push(bodies(answer.data));
    after = answer.meta.cursor;
  }
  expect(pages.map(({ length }) => length)).toEqual([20, 20, 5, 0]);
  expect(pages.flat()).toEqual(sent);
});

const total = iterations(60, 200);

test(`${total} messages during two sequences of waits: each sequence returns every one once`, async () => {
  const number = "+14155550610";
  const { conversation_id } = await openPhone(app, number).write("hello");
  const collect = async (scope: Wait): Promise<(string | undefined)[]> => {
    const received: (string | undefined)[] = [];
    let { after } = scope;
    while (received.length < total) {
      const answer = await wait({ ...scope, after });
      received.push(...bodies(answer.data));
      after = answer.meta.cursor;
    }
    return received;
  };
  const start = await currentCursor();
  const collecting = Promise.all([collect({ after: start }), collect({ after: start, conversation_id })]);
  const sent = Array.from({ length: total }, (_, index) => `number ${index}`);
  const collected = await meanwhile(collecting, async () => {
    for (let index = 0; index < total; index += 10) {
      await Promise.all(sent.slice(index, index + 10).map((body) => openPhone(app, number).write(body)));
    }
  });
  for (const received of collected) {
    expect([...received].sort()).toEqual([...sent].sort());
  }
});

test("a message stored by another process is returned too", async () => {
  const { conversation_id } = await openPhone(app, "+14155550611").write("hello");
  const { answer } = await startWaiting(() => wait({ conversation_id }));
  await app.server.database.transaction((tx) => insert(tx, conversation_id, "from elsewhere"));
  expect(bodies((await answer).data)).toEqual(["from elsewhere"]);
});

test("a message whose transaction began first and commits last is neither lost nor repeated", {
  tags: "postgres",
}, async () => {
  const { conversation_id } = await openPhone(app, "+14155550612").write("hello");
  const after = await currentCursor();
  const { database } = app.server;
  const gate = new EventEmitter();
  const isIn = once(gate, "in");
  const slow = database.transaction(async (tx) => {
    await insert(tx, conversation_id, "began first");
    const mayCommit = once(gate, "commit");
    gate.emit("in");
    await mayCommit;
  });
  const steps = async () => {
    await isIn;
    await database.transaction((tx) => insert(tx, conversation_id, "began second"));
    const first = await wait({ conversation_id, after });
    expect(bodies(first.data)).toEqual(["began second"]);
    const { answer } = await startWaiting(() => wait({ conversation_id, after: first.meta.cursor }));
    gate.emit("commit");
    return answer;
  };
  const [second] = await Promise.all([steps(), slow]);
  expect(bodies(second.data)).toEqual(["began first"]);
  expect((await wait({ after: second.meta.cursor, timeout_seconds: 0 })).data).toEqual([]);
});

test("a cursor of one's own making is rejected if it is older than a few minutes", () => {
  const cursorFrom = (minutes: number) => {
    const from = newId("msg", new Date(app.now().getTime() - minutes * 60_000));
    return { seen: "754:760:", from, page: null };
  };
  const unsign = (text: string) => {
    const parts: unknown[] = JSON.parse(Buffer.from(text, "base64url").toString());
    return Buffer.from(JSON.stringify(parts.slice(0, 4))).toString("base64url");
  };
  const [old, recent] = [cursorFrom(60), cursorFrom(5)];
  expect(readCursor(secrets, writeCursor(secrets, old), app.now())).toEqual(old);
  expect(readCursor(secrets, unsign(writeCursor(secrets, recent)), app.now())).toEqual(recent);
  expect(() => readCursor(secrets, unsign(writeCursor(secrets, old)), app.now())).toThrow(
    "neither a valid cursor",
  );
  const others = { secret: "x".repeat(32), previousSecret: undefined };
  expect(() => readCursor(secrets, writeCursor(others, old), app.now())).toThrow("neither a valid cursor");
  expect(
    readCursor({ ...others, previousSecret: secrets.secret }, writeCursor(secrets, old), app.now()),
  ).toEqual(old);
});

test("a cursor is decoded as encoded, and stays short with many running transactions", () => {
  const id = newId("msg", app.now());
  const running = Array.from({ length: 1_000 }, (_, index) => 5_000_000_000 + index * 1_000_000);
  const snapshot = `4000000000:9000000000:${running.join(",")}`;
  const quiet = { seen: "754:754:", from: id, page: { until: "754:760:755,759", last: id } };
  expect(readCursor(secrets, writeCursor(secrets, quiet), app.now())).toEqual(quiet);
  const busy = { seen: snapshot, from: id, page: { until: snapshot, last: id } };
  const text = writeCursor(secrets, busy);
  expect(text.length).toBeLessThanOrEqual(4096);
  // Messages of later transactions count as not seen.
  expect(readCursor(secrets, text, app.now()).seen?.split(":")[1]).toBe(String(running[200]));
});

test("messages of an erased contact are not returned", async () => {
  const after = await currentCursor();
  const { conversation_id } = await openPhone(app, "+14155550613").write("forget me");
  const [message] = (await wait({ after, timeout_seconds: 0 })).data;
  expect(message?.conversation_id).toBe(conversation_id);
  const [contact] = (await app.call(contacts.list_contacts, { search: "+14155550613" })).data;
  await app.call(contacts.delete_contact, { id: contact?.id ?? "" });
  expect((await wait({ after, timeout_seconds: 0 })).data).toEqual([]);
  expect(await expectFailure(wait({ conversation_id }))).toMatchObject({ status: 404 });
});

test("a credential has at most 20 concurrent waits; a closed connection frees its place, and other calls are not limited", async () => {
  // An app of its own, in which no wait of another test is left.
  await using own = await startTestApp();
  const waitHere = (input: Wait, options: { key?: string; signal?: AbortSignal }) =>
    own.call(messages.wait_for_message, input, options);
  const { data } = await own.call(apiKeys.create_api_key, { name: "waits", scopes: ["inbox:read"] });
  const key = data.secret_key;
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  const waits = Array.from({ length: 21 }, () => waitHere({}, { key, signal: controller.signal }));
  const failure = await Promise.race(waits.map(expectFailure));
  expect(failure).toMatchObject({ status: 429, code: "rate_limited", retryAfterSeconds: 5 });
  expect((await waitHere({ timeout_seconds: 0 }, {})).data).toEqual([]);
  await own.call(auth.whoami, {}, { key });
  controller.abort();
  await Promise.allSettled(waits);
  await vi.waitFor(() => waitHere({ timeout_seconds: 0 }, { key }), { timeout: 10_000 });
});

test("an assistant's waits do not block its other calls, and end with its connections", async () => {
  await using own = await startTestApp();
  const { data } = await own.call(apiKeys.create_api_key, { name: "mcp", scopes: ["inbox:read"] });
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  const call = async (name: string, args: object, signal?: AbortSignal) => {
    const answer = await own.fetch("/mcp", {
      method: "POST",
      key: data.secret_key,
      headers: { accept: "application/json, text/event-stream" },
      json: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } },
      ...(signal ? { signal } : {}),
    });
    return answer.text();
  };
  const waits = Array.from({ length: 21 }, () => call("wait_for_message", {}, controller.signal));
  expect(await Promise.race(waits)).toContain("Wait 5 s and try again");
  expect(await call("list_conversations", {})).toContain("per_page");
  controller.abort();
  await Promise.allSettled(waits);
  await expect.poll(() => call("wait_for_message", { timeout_seconds: 0 })).toContain("is_timed_out");
});

test("an app that stops answers its waiting calls", async () => {
  const other = await startTestApp();
  const waiting = await startWaiting(() => other.fetch("/v1/messages/wait?timeout_seconds=55"));
  await other[Symbol.asyncDispose]();
  const answer = await waiting.answer;
  expect(await answer.json()).toMatchObject({ data: [], meta: { is_timed_out: true } });
});

type Tx = Parameters<Parameters<TestApp["server"]["database"]["transaction"]>[0]>[0];

/** Inserts a message like another process: without a signal in this one. */
async function insert(tx: Tx, conversation_id: string, body: string): Promise<void> {
  const { organization_id } = await tx
    .selectFrom("conversations")
    .select("organization_id")
    .where("id", "=", conversation_id)
    .executeTakeFirstOrThrow();
  await tx
    .insertInto("messages")
    .values({
      organization_id,
      id: newId("msg", app.now()),
      conversation_id,
      direction: "inbound",
      type: "text",
      content: JSON.stringify({ text: { body } }),
      status: "received",
      created_at: app.now().toISOString(),
    })
    .execute();
}
