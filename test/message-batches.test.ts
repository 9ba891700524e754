/** Messages that are accepted together: what each of them gets, and what they cost. */
import { beforeAll, describe, expect, test } from "vitest";
import { createHold } from "../src/database/outage/index.ts";
import { authenticate } from "../src/platform/account/auth/index.ts";
import { type Call, createCall, type World } from "../src/platform/foundation/kernel/index.ts";
import { modules } from "../src/platform/index.ts";
import { contacts } from "../tools/contacts.ts";
import { conversations } from "../tools/conversations.ts";
import { inboxes } from "../tools/inboxes.ts";
import { catalogue } from "../tools/index.ts";
import { messages } from "../tools/messages/index.ts";
import { ownerKey, useTestApp } from "./support/app.ts";
import { createOrganizationFor } from "./support/operator.ts";
import { createWorldProbe } from "./support/world.ts";

const { probe, readWorld } = createWorldProbe();
const app = useTestApp({ enabledModules: { ...modules, probe }, startsAt: new Date("2026-06-01T10:00:00Z") });

let world: World;
let call: Call;
/** Shares no batch with `call`, like another process. */
let otherCall: Call;

beforeAll(async () => {
  world = await readWorld(app);
  const hold = createHold(app.server.database, 0);
  call = createCall(Object.values(modules), { catalogue, world, hold });
  otherCall = createCall(Object.values(modules), { catalogue, world, hold });
});

interface Request {
  readonly to?: string;
  readonly text?: string;
  readonly inbox_id?: string;
  readonly credential?: string;
  readonly idempotencyKey?: string;
}

/** Calls that are made in one tick, so that they share a transaction. */
async function sendAtOnce(requests: readonly Request[], run = call) {
  const callers = await Promise.all(
    requests.map(({ credential = ownerKey }) => authenticate(world, credential)),
  );
  const { signal } = new AbortController();
  const settled = await Promise.allSettled(
    requests.map(({ to = "+14155550100", text = "hello", inbox_id, idempotencyKey }, index) => {
      const input = { to, type: "text", text: { body: text }, ...(inbox_id && { inbox_id }) };
      return run({
        operation: "send_message",
        caller: callers[index] ?? null,
        input,
        idempotencyKey,
        signal,
      });
    }),
  );
  return settled.map((one) =>
    one.status === "fulfilled"
      ? { status: one.value.status, isReplay: one.value.isReplay, data: dataOf(one.value.body) }
      : { code: one.reason.code, status: one.reason.status, isReplay: undefined, data: undefined },
  );
}

async function sendOne(request: Request): Promise<Sent> {
  const [result] = await sendAtOnce([request]);
  if (!result?.data) {
    throw new Error(`The message was rejected: ${result?.code}`);
  }
  return result.data;
}

/** The output schema has parsed it. */
const dataOf = (body: unknown) => (body as { data: Sent }).data;

interface Sent {
  readonly id: string;
  readonly conversation_id: string;
  readonly contact: { readonly id: string; readonly created: boolean };
}

const number = (n: number) => `+1415555${String(2000 + n)}`;
const numbers = (count: number) => Array.from({ length: count }, (_, n) => number(n));

async function textsTo(to: string, key = ownerKey) {
  const { data } = await app.call(contacts.list_contacts, { search: to }, { key });
  const lists = await Promise.all(
    data.map(async ({ id: contact_id }) => {
      const found = await app.call(conversations.list_conversations, { contact_id }, { key });
      return Promise.all(
        found.data.map(({ id: conversation_id }) =>
          app.call(messages.list_messages, { conversation_id }, { key }),
        ),
      );
    }),
  );
  return lists.flat().flatMap(({ data: list }) => list.map(({ text }) => text?.body));
}

async function count(work: () => Promise<unknown>) {
  const before = app.server.database.pool();
  await work();
  const { statements, waits } = app.server.database.pool();
  return { statements: statements - before.statements, waits: waits - before.waits };
}

describe("one transaction", { tags: "both" }, () => {
  test("costs as many statements for 16 messages as for two, also with idempotency keys", async () => {
    const to = numbers(16);
    await sendAtOnce(to.map((one) => ({ to: one })));
    const costOf = async (size: number, isKeyed: boolean) => {
      const requests = to.slice(0, size).map((one, n) => ({
        to: one,
        ...(isKeyed ? { idempotencyKey: `cost ${size} ${n}` } : {}),
      }));
      return count(() => sendAtOnce(requests));
    };
    expect(await costOf(16, false)).toEqual(await costOf(2, false));
    expect(await costOf(16, true)).toEqual(await costOf(2, true));
    await app.runDueJobs();
  });

  test("gives each message its own result", async () => {
    const [first = "", second = "", blocked = ""] = [number(20), number(21), number(22)];
    const { data: contact } = await app.call(contacts.create_contact, { phone_number: blocked });
    await app.call(contacts.update_contact, { id: contact.id, blocked: true });
    await sendAtOnce([{ to: first, idempotencyKey: "used", text: "once" }]);
    const results = await sendAtOnce([
      { to: first, text: "a" },
      { to: first, text: "once", idempotencyKey: "used" },
      { to: first, text: "other", idempotencyKey: "used" },
      { to: blocked },
      { to: "+1" },
      { to: second, inbox_id: "inb_unknown" },
      { to: second, text: "b", idempotencyKey: "twin" },
      { to: second, text: "b", idempotencyKey: "twin" },
    ]);
    expect(results).toMatchObject([
      { status: 201, isReplay: false },
      { status: 201, isReplay: true },
      { status: 422, code: "idempotency_key_reused" },
      { status: 422, code: "contact_blocked" },
      { status: 400, code: "invalid_request" },
      { status: 404, code: "inbox_not_found" },
      { status: 201, isReplay: false },
      { status: 201, isReplay: true },
    ]);
    expect((await textsTo(first)).sort()).toEqual(["a", "once"]);
    expect(await textsTo(second)).toEqual(["b"]);
    expect(results[6]?.data).toEqual(results[7]?.data);
  });

  test("sends each message once if another process sends it at the same time with the same key", async () => {
    const requests = numbers(8).map((to, n) => ({ to, text: `once ${n}`, idempotencyKey: `shared ${n}` }));
    const [here, there] = await Promise.all([sendAtOnce(requests), sendAtOnce(requests, otherCall)]);
    expect(here.map(({ data }) => data?.id)).toEqual(there.map(({ data }) => data?.id));
    expect([...here, ...there].filter((one) => one.isReplay)).toHaveLength(8);
    for (const { to, text } of requests) {
      expect((await textsTo(to)).filter((one) => one === text)).toEqual([text]);
    }
  });

  test("creates a new contact once, for all of its messages", async () => {
    const to = number(30);
    const results = await sendAtOnce([{ to }, { to }, { to: number(31) }, { to }]);
    const sent = results.flatMap(({ data }) => data ?? []);
    expect(sent.map(({ contact }) => contact.created)).toEqual([true, false, true, false]);
    const conversationIds = sent.map(({ conversation_id }) => conversation_id);
    expect(conversationIds).toEqual([0, 0, 2, 0].map((index) => conversationIds[index]));
    expect(new Set(conversationIds)).toHaveProperty("size", 2);
  });

  test("delivers the messages of a conversation in their order", async () => {
    const to = number(40);
    const texts = Array.from({ length: 12 }, (_, n) => `text ${n}`);
    await sendAtOnce(texts.map((text) => ({ to, text })));
    await app.advanceTime(10_000);
    const rows = await app.server.database.queries
      .selectFrom("messages")
      .select(["content", "sent_at"])
      .where("to", "=", to)
      .where("status", "=", "delivered")
      .orderBy("sent_at")
      .orderBy("id")
      .execute();
    expect(rows.map(({ content }) => content.text?.body)).toEqual(texts);
  });

  test("serves several organizations, each with its own contacts", async () => {
    const others = [await createOrganizationFor(app, "Second"), await createOrganizationFor(app, "Third")];
    const to = number(50);
    const credentials = [ownerKey, ...others.map(({ key }) => key)];
    const results = await sendAtOnce(
      credentials.flatMap((credential, n) => [
        { to, credential, text: `one of ${n}` },
        { to, credential, text: `two of ${n}`, idempotencyKey: "same" },
      ]),
    );
    expect(results.map(({ status }) => status)).toEqual(Array(6).fill(201));
    for (const [n, key] of credentials.entries()) {
      expect((await textsTo(to, key)).sort()).toEqual([`one of ${n}`, `two of ${n}`]);
    }
    const ids = results.flatMap(({ data }) => data?.contact.id ?? []);
    expect(new Set(ids)).toHaveProperty("size", 3);
  });

  test("another organization's inbox, contact or conversation can't be named", async () => {
    const other = await createOrganizationFor(app, "Fourth");
    const { contact, conversation_id } = await sendOne({ to: number(60) });
    const { data: list } = await app.call(inboxes.list_inboxes, {});
    const credential = other.key;
    const results = await sendAtOnce([
      { to: number(61), credential },
      { to: contact.id, credential },
      { to: conversation_id, credential },
      { to: number(62), inbox_id: list[0]?.id ?? "", credential },
      { to: number(60) },
    ]);
    expect(results).toMatchObject([
      { status: 201 },
      { code: "contact_not_found" },
      { code: "conversation_not_found" },
      { code: "inbox_not_found" },
      { status: 201 },
    ]);
  });
});

test("messages whose conversation is locked delay no other message", { tags: "postgres" }, async () => {
  const [locked, free] = [number(70), number(71)];
  const { conversation_id } = await sendOne({ to: locked });
  await sendOne({ to: free });
  let waiting: Promise<readonly Sent[]> = Promise.resolve([]);
  let isUnlocked = false;
  await world.database.transaction(async (tx) => {
    await tx.selectFrom("conversations").select("id").where("id", "=", conversation_id).forUpdate().execute();
    const sendLocked = async () => {
      const sent = await sendOne({ to: locked });
      expect(isUnlocked).toBe(true);
      return sent;
    };
    // One that begins a transaction of its own, and two that share the next one with a free conversation.
    waiting = Promise.all([sendLocked(), sendLocked(), sendLocked()]);
    // They are awaited after the commit.
    waiting.catch(() => undefined);
    await sendOne({ to: free });
    isUnlocked = true;
  });
  expect(await waiting).toHaveLength(3);
});
