/**
 * Databases that landed versions wrote open with this version: nothing is lost, and queued work is done once.
 */
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClock, startEmulator } from "../emulator/index.ts";
import type { Queries } from "../src/database/database.ts";
import { migrations } from "../src/database/migrations/index.ts";
import { findDifferences } from "../src/platform/money/wallet/audit.ts";
import { contacts } from "../tools/contacts.ts";
import { conversations } from "../tools/conversations.ts";
import { messages } from "../tools/messages/index.ts";
import { templates } from "../tools/templates/index.ts";
import { webhooks } from "../tools/webhooks.ts";
import { startTestApp } from "./support/app.ts";
import { findColumns } from "./support/find-columns.ts";
import { iterations } from "./support/iterations.ts";
import {
  expectSimulatedMoney,
  hasSeparateMoney,
  joinMoney,
  readSimulatedMoney,
  readUnexplainedHolds,
} from "./support/simulated-split.ts";
import { openPhone } from "./support/simulator.ts";
import {
  dumpNames,
  loadDump,
  type RecordedMessage,
  readAnswer,
  readDumpRecord,
  whatsAppEnv,
} from "./support/version-dumps.ts";
import { startWebhookReceiver } from "./support/webhook-receiver.ts";

const [minute, hour] = [60_000, 3_600_000];

/** The oldest version and the newest ones, and all with SOAK. */
const names = dumpNames.filter(
  (_, index) => index === 0 || index >= dumpNames.length - iterations(2, Infinity),
);

/**
 * The tests of a version use the same app one after the other, because opening a dump
 * takes most of their time.
 */
describe.each(names)("a database of version %s", (name) => {
  let opened: OpenedDump;
  beforeAll(async () => {
    opened = await openDump(name);
  });
  afterAll(() => opened[Symbol.asyncDispose]());

  test("is migrated and read as it was written", async () => {
    const { app, record, key } = opened;
    expect(await migrationsOf(app.server.database.queries)).toEqual(Object.keys(migrations));
    const answers: Record<string, unknown> = {};
    for (const path of Object.keys(record.answers)) {
      answers[path] = await readAnswer(app, path, key);
    }
    const present = hasSeparateMoney(record.answers) ? answers : joinMoney(answers);
    expect(present).toMatchObject(record.answers);
  });

  test("has its simulated money apart from its real money, both as the ledger says", async () => {
    const { queries } = opened.app.server.database;
    expect(await readSimulatedMoney(queries)).toEqual(await expectSimulatedMoney(queries));
    expect(await readUnexplainedHolds(queries)).toEqual([0, 0]);
    for (const { id } of await queries.selectFrom("organizations").select("id").execute()) {
      expect(await findDifferences(queries, id)).toEqual([]);
    }
  });

  test("has its queued work done, with each message and event sent once", async () => {
    const { app, record, key } = opened;
    const dead = await countDeadJobs(app.server.database.queries);
    await using receivers = await redirectWebhooks(opened);
    await app.advanceTime(minute);
    await app.advanceTime(hour);
    await app.advanceTime(5 * hour);

    for (const message of [record.queued_message, record.sent_message]) {
      expect(await arrivalsOf(opened, message)).toMatchObject([{ status: "delivered" }]);
      const input = { conversation_id: message.conversation_id, message_id: message.id };
      const { data } = await app.call(messages.get_message, input, { key });
      expect(data.status).toBe("delivered");
    }
    for (const { delivered, pending, receiver } of receivers.list) {
      const ids = receiver.received.map(({ event }) => event.id);
      expect(ids).toEqual(expect.arrayContaining([...pending]));
      expect(ids.filter((id, index) => delivered.includes(id) || ids.indexOf(id) < index)).toEqual([]);
      const progress = receiver.received.filter(
        ({ event }) => event.data.message_id === record.queued_message.id,
      );
      expect(progress.map(({ event }) => event.type)).toEqual(["message.sent", "message.delivered"]);
      expect(receiver.forged).toBe(0);
    }
    const { id, snoozed_until } = record.snoozed_conversation;
    expect(Date.parse(snoozed_until)).toBeLessThanOrEqual(app.now().getTime());
    const { data } = await app.call(conversations.get_conversation, { id }, { key });
    expect(data).toMatchObject({ status: "open", snoozed_until: null });
    expect(await listQueuedJobs(app.server.database.queries)).toEqual([]);
    expect(await readUnexplainedHolds(app.server.database.queries)).toEqual([0, 0]);
    expect(await countDeadJobs(app.server.database.queries)).toBe(dead);
  });

  test("replays stored answers, and sends and receives new messages", async () => {
    const { app, record, key } = opened;
    const { path, idempotency_key, body, answer } = record.request;
    const headers = { "idempotency-key": idempotency_key };
    const repeated = await app.fetch(path, { method: "POST", json: body, headers, key });
    expect(repeated.headers.get("idempotency-replayed")).toBe("true");
    expect(await repeated.text()).toBe(answer);

    const { to, conversation_id } = record.queued_message;
    const { message_id } = await openPhone(app, to, key).write("One more question.");
    const input = { to, type: "text", text: { body: "Of course." } } as const;
    const { data: sent } = await app.call(messages.send_message, input, { key });
    await app.advanceTime(minute);
    expect(await arrivalsOf(opened, { ...sent, to })).toMatchObject([{ status: "delivered" }]);
    const { data: listed } = await app.call(messages.list_messages, { conversation_id }, { key });
    expect(listed.slice(0, 3).map(({ id }) => id)).toEqual([sent.id, message_id, record.queued_message.id]);
    expect(await arrivalsOf(opened, record.queued_message)).toHaveLength(1);
  });

  test("erases a contact from the rows that the version wrote", async () => {
    const { app, record, key } = opened;
    const { to, conversation_id } = record.queued_message;
    const { data } = await app.call(conversations.get_conversation, { id: conversation_id }, { key });
    const { queries } = app.server.database;
    expect(await findColumns(queries, [to])).toEqual(expect.arrayContaining(["idempotency.body"]));
    await app.call(contacts.delete_contact, { id: data.contact_id }, { key });
    await app.advanceTime(minute);
    expect(await findColumns(queries, [to])).toEqual([]);
  });
});

const recordsWithWhatsApp = (await Promise.all(names.map(readDumpRecord))).map(({ whatsapp }) => whatsapp);
const whatsAppDumps = names.filter((_, index) => recordsWithWhatsApp[index] !== undefined);

describe.skipIf(whatsAppDumps.length === 0)("a WhatsApp inbox", () => {
  test.each(whatsAppDumps)(
    "of version %s still has its account, its messages and its template",
    async (name) => {
      await using opened = await openDump(name);
      const { app, emulator, record, key } = opened;
      const { inbox_id = "", template_id = "", message } = record.whatsapp ?? {};
      const { id: message_id = "", conversation_id = "", to = "" } = message ?? {};
      const { data: read } = await app.call(messages.get_message, { conversation_id, message_id }, { key });
      expect(read).toMatchObject({ status: "read", text: { body: "Yes, that is the part." } });
      const { data: listed } = await app.call(messages.list_messages, { conversation_id }, { key });
      const inbound = listed.filter(({ direction }) => direction === "inbound");
      // Before these, dumps since 0063 have messages whose types are later.
      expect(inbound.slice(0, 3)).toMatchObject([
        { type: "unsupported" },
        { type: "image", media: { caption: "This one" } },
        { type: "text", text: { body: "Is this the part?" } },
      ]);
      const { data: template } = await app.call(templates.get_template, { id: template_id }, { key });
      expect(template).toMatchObject({ status: "approved", inbox_id });

      // The emulator accepts the account's token alone.
      const input = { to, type: "text", text: { body: "It is on its way." }, inbox_id } as const;
      await app.call(messages.send_message, input, { key });
      await app.runDueJobs();
      const answer = await fetch(`${emulator.url}/emulator/messages`);
      const { data: arrived } = (await answer.json()) as { data: { body: unknown }[] }; // as documented
      expect(arrived).toMatchObject([{ body: { text: { body: "It is on its way." } } }]);
    },
  );
});

describe("simulated payments of an earlier version", () => {
  const aMessage = "select id from public.messages where charge ->> 'status' = 'settled' order by id limit 1";

  test("that are spent leave nothing simulated, and the rest of the charges is real", async () => {
    await using opened = await openDump(
      "0031",
      `insert into public.ledger_entries (organization_id, id, reference, type, from_account, to_account, amount, currency,
          message_id, created_at)
        select organization_id, 'txn_50', 'txn_50', 'charge', 'wallet', 'spent', 50000000, currency, message_id, created_at
        from public.ledger_entries where message_id = (${aMessage}) limit 1;
      update public.messages set charge = jsonb_set(charge, '{price}', to_jsonb((charge ->> 'price')::bigint + 50000000))
        where id = (${aMessage});`,
    );
    const { queries } = opened.app.server.database;
    const simulated = await readSimulatedMoney(queries);
    expect(simulated).toEqual({ balance: 0, held: 0, spent: 20_000_000 });
    expect(simulated).toEqual(await expectSimulatedMoney(queries));
    expect(await readUnexplainedHolds(queries)).toEqual([0, 0]);
  });

  test("that pay for a part of what is held hold no more than they can", async () => {
    // Of 20, this leaves the price of one message.
    await using opened = await openDump(
      "0031",
      `with spent as (
          select sum((charge ->> 'price')::bigint) as amount from public.messages where charge ->> 'status' = 'settled'
        ), added as (select 19990000 - amount as amount from spent)
        update public.messages set charge = jsonb_set(charge, '{price}', to_jsonb((charge ->> 'price')::bigint + added.amount))
        from added where id = (${aMessage});`,
    );
    const { queries } = opened.app.server.database;
    expect(await readSimulatedMoney(queries)).toMatchObject({ balance: 10_000, held: 10_000 });
    expect(await readUnexplainedHolds(queries)).toEqual([0, 0]);
  });

  test("of a real processor all stay real", async () => {
    await using opened = await openDump("0031", "update public.payment_orders set processor = 'razorpay';");
    const { queries } = opened.app.server.database;
    expect(await readSimulatedMoney(queries)).toEqual({ balance: 0, held: 0, spent: 0 });
    expect(await readUnexplainedHolds(queries)).toEqual([0, 0]);
  });
});

/** Starts the app on the dump, a second after the dumped service stopped. */
async function openDump(name: string, changes?: string) {
  const record = await readDumpRecord(name);
  const database = await loadDump(name, changes);
  const startsAt = new Date(Date.parse(record.stopped_at) + 1_000);
  const emulator = await startEmulator({ clock: createClock(startsAt.getTime()) });
  const app = await startTestApp({
    database,
    startsAt,
    env: { TIDINGS_ALLOW_LOCAL_WEBHOOKS: "true", ...(record.whatsapp ? whatsAppEnv(emulator) : {}) },
  });
  return {
    app,
    emulator,
    record,
    key: record.key,
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      await emulator[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

type OpenedDump = Awaited<ReturnType<typeof openDump>>;

/** Gives each webhook a receiver of its own. */
async function redirectWebhooks({ app, record, key }: OpenedDump) {
  const list = await Promise.all(
    record.webhooks.map(async (webhook) => {
      const receiver = await startWebhookReceiver();
      receiver.secret = webhook.signing_secret;
      await app.call(webhooks.update_webhook, { id: webhook.id, url: receiver.url }, { key });
      return { ...webhook, receiver };
    }),
  );
  return {
    list,
    async [Symbol.asyncDispose]() {
      await Promise.all(list.map(({ receiver }) => receiver[Symbol.asyncDispose]()));
    },
  };
}

/** How a message appears on its recipient's phone: more than once if it was sent again. */
async function arrivalsOf({ app, key }: OpenedDump, { id, to }: Pick<RecordedMessage, "id" | "to">) {
  const shown = await openPhone(app, to, key).listMessages();
  return shown.filter(({ token }) => token === id);
}

async function migrationsOf(queries: Queries): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(
    queries,
  );
  return rows.map(({ name }) => name);
}

/** Except those that repeat by a schedule. */
async function listQueuedJobs(queries: Queries): Promise<string[]> {
  const rows = await queries.selectFrom("jobs").select("name").where("schedule", "is", null).execute();
  return rows.map(({ name }) => name);
}

async function countDeadJobs(queries: Queries): Promise<number> {
  return (await queries.selectFrom("dead_jobs").select("id").execute()).length;
}

test("tags of conversations take the form of those of contacts", async () => {
  await using app = await startTestApp();
  const { conversation_id: id } = await openPhone(app, "+14155550190").write("hi");
  const { queries } = app.server.database;
  const tags = ["VIP", " vip\t", "Cafe\u0301", "b", "  "];
  await queries.updateTable("conversations").set({ tags }).where("id", "=", id).execute();
  await migrations["0013-tags"]?.up(queries);
  const { data } = await app.call(conversations.get_conversation, { id });
  expect(data.tags).toEqual(["vip", "café", "b"]);
});

test("what a process of the version before keeps of a message apart is shown with the message", async () => {
  await using app = await startTestApp();
  const { conversation_id, message_id } = await openPhone(app, "+14155550191").write("hi");
  const { queries } = app.server.database;
  const { organization_id } = await queries
    .selectFrom("messages")
    .select("organization_id")
    .where("id", "=", message_id)
    .executeTakeFirstOrThrow();
  const original = { type: "unsupported", unsupported: { type: "poll" } };
  const row = { organization_id, message_id, received_at: app.now().toISOString() };
  await queries
    .insertInto("message_originals")
    .values({ ...row, original: JSON.stringify(original) })
    .execute();
  const { data } = await app.call(messages.get_message, { conversation_id, message_id });
  expect(data.channel_data).toEqual(original);
  // Processes of the version before read it there.
  const kept = await queries.selectFrom("message_originals").select("original").execute();
  expect(kept).toEqual([{ original }]);
});
