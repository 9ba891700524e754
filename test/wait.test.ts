/** Waiting for messages: nothing is lost and nothing comes twice, whatever commits when. */
import { EventEmitter, once, setMaxListeners } from "node:events";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { newId } from "../src/database/id.ts";
import { readCursor, writeCursor } from "../src/platform/messages/waiting/cursor.ts";
import { apiKeys } from "../tools/api-keys.ts";
import { auth } from "../tools/auth.ts";
import { contacts } from "../tools/contacts.ts";
import { messages } from "../tools/messages/index.ts";
import { startTestApp, type TestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { createOtherTenant } from "./support/other-tenant.ts";
import { openPhone } from "./support/simulator.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app[Symbol.asyncDispose]());

interface Wait {
  readonly conversation_id?: string;
  readonly after?: string;
  readonly timeout_seconds?: number;
}

const wait = async (input: Wait, options: { key?: string; signal?: AbortSignal } = {}) =>
  (await app.call(messages.wait_for_message, input, options)).data;
const begin = async () => (await wait({ timeout_seconds: 0 })).cursor;
const bodies = (list: readonly { text: { body: string } | null }[]) => list.map(({ text }) => text?.body);

/** Makes a call, and returns its answer to come as soon as the app waits for messages. */
async function startWaiting<Answer>(call: () => Promise<Answer>): Promise<{ answer: Promise<Answer> }> {
  const timers = vi.spyOn(globalThis, "setInterval");
  const answer = call();
  // The first wait of an organization starts the poll for messages of other processes.
  await expect.poll(() => timers.mock.calls.map(([, ms]) => ms)).toContain(500);
  timers.mockRestore();
  return { answer };
}

test("what came after the cursor is answered at once, oldest first", async () => {
  const after = await begin();
  await openPhone(app, "+14155550601").write("one");
  await openPhone(app, "+14155550602").write("two");
  const answer = await wait({ after });
  expect(answer).toMatchObject({ is_timed_out: false });
  expect(bodies(answer.messages)).toEqual(["one", "two"]);
  expect((await wait({ after: answer.cursor, timeout_seconds: 0 })).messages).toEqual([]);
});

test("a call that waits is answered when a contact writes", async () => {
  const { answer } = await startWaiting(() => wait({}));
  await openPhone(app, "+14155550603").write("at last");
  expect(bodies((await answer).messages)).toEqual(["at last"]);
});

test("in one conversation only that one counts; our own messages never do", async () => {
  const { conversation_id } = await openPhone(app, "+14155550604").write("first");
  const { answer } = await startWaiting(() => wait({ conversation_id }));
  await openPhone(app, "+14155550605").write("somebody else");
  await app.call(messages.send_message, { to: "+14155550604", type: "text", text: { body: "ours" } });
  await openPhone(app, "+14155550604").write("second");
  expect(bodies((await answer).messages)).toEqual(["second"]);
});

test("when the time is up the answer is empty, and its cursor goes on exactly there", async () => {
  const after = await begin();
  const waiting = await startWaiting(() => wait({ after, timeout_seconds: 30 }));
  await app.advanceTime(31_000);
  const answer = await waiting.answer;
  expect(answer).toMatchObject({ messages: [], is_timed_out: true });
  await openPhone(app, "+14155550606").write("late");
  expect(bodies((await wait({ after: answer.cursor })).messages)).toEqual(["late"]);
});

test("after a message that was just sent comes the reply to it", async () => {
  const to = "+14155550607";
  await openPhone(app, to).write("before");
  const { data } = await app.call(messages.send_message, { to, type: "text", text: { body: "well?" } });
  const waiting = wait({ conversation_id: data.conversation_id, after: data.id });
  await openPhone(app, to).write("well!");
  expect(bodies((await waiting).messages)).toEqual(["well!"]);
});

test.each([
  "nonsense",
  "msg_00000000000000000000000000",
  Buffer.from("[1,2]").toString("base64url"),
  Buffer.from('["0.5","msg_00000000000000000000000000",null,null]').toString("base64url"),
  Buffer.from('["2.5.9","msg_00000000000000000000000000",null,null]').toString("base64url"),
])("%s is no cursor", async (after) => {
  const refused = await expectFailure(wait({ after }));
  expect(refused).toMatchObject({ status: 400, code: "invalid_cursor", error: { param: "after" } });
});

test("a neighbour's message is no place to begin, and nobody hears a neighbour's messages", async () => {
  const neighbour = await createOtherTenant(app);
  expect(await expectFailure(wait({ after: neighbour.message_id }))).toMatchObject({
    code: "invalid_cursor",
  });
  const theirs = expectFailure(wait({ conversation_id: neighbour.conversation_id }));
  expect(await theirs).toMatchObject({ status: 404, code: "conversation_not_found" });
  const { cursor: after } = await wait({ timeout_seconds: 0 }, { key: neighbour.key });
  await openPhone(app, "+14155550608").write("ours");
  expect((await wait({ after, timeout_seconds: 0 }, { key: neighbour.key })).messages).toEqual([]);
});

test("a burst comes in pages of 20, and each cursor stays short", async () => {
  let after = await begin();
  const sent = Array.from({ length: 45 }, (_, number) => `burst ${number}`);
  for (const body of sent) {
    await openPhone(app, "+14155550609").write(body);
  }
  const given: (string | undefined)[][] = [];
  for (let left = 4; left > 0; left -= 1) {
    const answer = await wait({ after, timeout_seconds: 0 });
    expect(answer.cursor.length).toBeLessThan(300);
    given.push(bodies(answer.messages));
    after = answer.cursor;
  }
  expect(given.map(({ length }) => length)).toEqual([20, 20, 5, 0]);
  expect(given.flat()).toEqual(sent);
});

test("200 messages during the waits of two: each hears every one once", async () => {
  const number = "+14155550610";
  const { conversation_id } = await openPhone(app, number).write("hello");
  const total = 200;
  const hear = async (scope: Wait): Promise<(string | undefined)[]> => {
    const heard: (string | undefined)[] = [];
    let { after } = scope;
    while (heard.length < total) {
      const answer = await wait({ ...scope, after });
      heard.push(...bodies(answer.messages));
      after = answer.cursor;
    }
    return heard;
  };
  const begun = await begin();
  const hearing = Promise.all([hear({ after: begun }), hear({ after: begun, conversation_id })]);
  const sent = Array.from({ length: total }, (_, index) => `number ${index}`);
  for (let index = 0; index < total; index += 10) {
    await Promise.all(sent.slice(index, index + 10).map((body) => openPhone(app, number).write(body)));
  }
  for (const heard of await hearing) {
    expect([...heard].sort()).toEqual([...sent].sort());
  }
});

test("a message of another process is heard too", async () => {
  const { conversation_id } = await openPhone(app, "+14155550611").write("hello");
  const { answer } = await startWaiting(() => wait({ conversation_id }));
  await app.server.database.transaction((tx) => insert(tx, conversation_id, "from elsewhere"));
  expect(bodies((await answer).messages)).toEqual(["from elsewhere"]);
});

test.runIf(process.env.TIDINGS_TEST_ENGINE === "postgres")(
  "of two transactions the one that began first commits last, and is neither lost nor doubled",
  async () => {
    const { conversation_id } = await openPhone(app, "+14155550612").write("hello");
    const after = await begin();
    const { database } = app.server;
    const gate = new EventEmitter();
    const isIn = once(gate, "in");
    const slow = database.transaction(async (tx) => {
      await insert(tx, conversation_id, "began first");
      const mayCommit = once(gate, "commit");
      gate.emit("in");
      await mayCommit;
    });
    await isIn;
    await database.transaction((tx) => insert(tx, conversation_id, "began second"));
    const first = await wait({ conversation_id, after });
    expect(bodies(first.messages)).toEqual(["began second"]);
    const waiting = await startWaiting(() => wait({ conversation_id, after: first.cursor }));
    gate.emit("commit");
    await slow;
    const second = await waiting.answer;
    expect(bodies(second.messages)).toEqual(["began first"]);
    expect((await wait({ after: second.cursor, timeout_seconds: 0 })).messages).toEqual([]);
  },
);

test("a cursor is read as it was written, and stays short however many transactions run", () => {
  const id = newId("msg", app.now());
  const running = Array.from({ length: 1_000 }, (_, index) => 5_000_000_000 + index * 1_000_000);
  const snapshot = `4000000000:9000000000:${running.join(",")}`;
  const quiet = { seen: "754:754:", from: id, page: { until: "754:760:755,759", last: id } };
  expect(readCursor(writeCursor(quiet))).toEqual(quiet);
  const busy = { seen: snapshot, from: id, page: { until: snapshot, last: id } };
  const text = writeCursor(busy);
  expect(text.length).toBeLessThanOrEqual(4096);
  // What the later ones wrote counts as not seen.
  expect(readCursor(text).seen?.split(":")[1]).toBe(String(running[200]));
});

test("of an erased contact nothing is heard", async () => {
  const after = await begin();
  const { conversation_id } = await openPhone(app, "+14155550613").write("forget me");
  const [message] = (await wait({ after, timeout_seconds: 0 })).messages;
  expect(message?.conversation_id).toBe(conversation_id);
  const [contact] = (await app.call(contacts.list_contacts, { search: "+14155550613" })).data;
  await app.call(contacts.delete_contact, { id: contact?.id ?? "" });
  expect((await wait({ after, timeout_seconds: 0 })).messages).toEqual([]);
  expect(await expectFailure(wait({ conversation_id }))).toMatchObject({ status: 404 });
});

test("a credential has 20 waits at once; hanging up makes room at once, and other calls go on", async () => {
  const { data } = await app.call(apiKeys.create_api_key, { name: "waits", scopes: ["inbox:read"] });
  const key = data.secret_key;
  const hangUp = new AbortController();
  setMaxListeners(0, hangUp.signal);
  const waits = Array.from({ length: 21 }, () => wait({}, { key, signal: hangUp.signal }));
  const refused = await Promise.race(waits.map(expectFailure));
  expect(refused).toMatchObject({ status: 429, code: "rate_limited", retryAfterSeconds: 5 });
  expect((await wait({ timeout_seconds: 0 })).messages).toEqual([]);
  await app.call(auth.whoami, {}, { key });
  hangUp.abort();
  await Promise.allSettled(waits);
  await vi.waitFor(() => wait({ timeout_seconds: 0 }, { key }), { timeout: 10_000 });
});

test("an assistant's waits leave its other calls their turns, and end with its connections", async () => {
  const { data } = await app.call(apiKeys.create_api_key, { name: "mcp", scopes: ["inbox:read"] });
  const hangUp = new AbortController();
  setMaxListeners(0, hangUp.signal);
  const call = async (name: string, given: object, signal?: AbortSignal) => {
    const answer = await app.fetch("/mcp", {
      method: "POST",
      key: data.secret_key,
      headers: { accept: "application/json, text/event-stream" },
      json: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: given } },
      ...(signal ? { signal } : {}),
    });
    return answer.text();
  };
  const waits = Array.from({ length: 21 }, () => call("wait_for_message", {}, hangUp.signal));
  expect(await Promise.race(waits)).toContain("Wait 5 s and try again");
  expect(await call("list_conversations", {})).toContain("per_page");
  hangUp.abort();
  await Promise.allSettled(waits);
  await expect.poll(() => call("wait_for_message", { timeout_seconds: 0 })).toContain("is_timed_out");
});

test("a app that stops answers those who wait, with a cursor that goes on", async () => {
  const other = await startTestApp();
  const waiting = await startWaiting(() => other.fetch("/v1/messages/wait?timeout_seconds=55"));
  await other[Symbol.asyncDispose]();
  const answer = await waiting.answer;
  expect(await answer.json()).toMatchObject({ data: { messages: [], is_timed_out: true } });
});

type Tx = Parameters<Parameters<TestApp["server"]["database"]["transaction"]>[0]>[0];

/** What another process would commit: no bell rings for it here. */
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
