/**
 * A simulated phone's message is received once: at whichever step a process dies, and by
 * two processes at once.
 */
import { expect, test } from "vitest";
import { conversations } from "../tools/conversations.ts";
import { messages } from "../tools/messages/index.ts";
import { webhooks } from "../tools/webhooks.ts";
import { ownerKey, startTestApp, type TestApp, useTestApp } from "./support/app.ts";
import { type CrashTime, crashTransactions } from "./support/crashes.ts";
import { createTestDatabase } from "./support/database.ts";
import { meanwhile } from "./support/meanwhile.ts";
import { connectTo } from "./support/postgres.ts";
import { modulesWithRareUpkeep } from "./support/rare-upkeep.ts";
import { openProcesses, waitUntil } from "./support/served-process.ts";
import { createWorldProbe } from "./support/world.ts";

const { probe, readWorld } = createWorldProbe();
const app = useTestApp({ enabledModules: { ...modulesWithRareUpkeep("messages"), probe } });

/** Until a worker does the work of a process that died. */
const takeoverMs = 10_000;

let numbers = 0;
const newNumber = () => {
  numbers += 1;
  return `+1415555${4000 + numbers}`;
};

const post = (json: object, to: TestApp = app) => to.fetch("/simulator/inbound", { method: "POST", json });

/** Sends a request that succeeds. */
async function write(json: object, to: TestApp = app) {
  const answer = await post(json, to);
  expect(answer.status).toBe(201);
  const { data } = (await answer.json()) as { data: { message_id: string; conversation_id: string } };
  return data;
}

/** Lets the transaction with this number, of those of the modules, crash. */
async function crash(number: number, when: CrashTime): Promise<() => void> {
  let transactions = 0;
  const isCrash = () => {
    transactions += 1;
    return transactions === number;
  };
  return crashTransactions(await readWorld(app), { isCrash, when });
}

/** The messages that the contact with this number has written, oldest first. */
async function receivedFrom({ call }: TestApp, number: string) {
  const { data: all } = await call(conversations.list_conversations, { per_page: 100 });
  const own = all.filter(({ phone_number }) => phone_number === number);
  const lists = await Promise.all(
    own.map(({ id }) => call(messages.list_messages, { conversation_id: id, per_page: 100 })),
  );
  return lists.flatMap(({ data }) => data).reverse();
}

async function readCursor(): Promise<string> {
  return (await app.call(webhooks.list_events, {})).meta.cursor;
}

const jobsLeft = () =>
  app.server.database.queries
    .selectFrom("jobs")
    .select("id")
    .where("name", "in", ["message.receive", "message.change"])
    .execute();

/**
 * Of the two transactions, the first stores the job, and the second does its work and deletes it.
 * `isReceived`: without a repetition of the request.
 */
const crashes = [
  { place: "before the commit of the job", number: 1, when: "before", isReceived: false },
  { place: "between the job and its work", number: 1, when: "after", isReceived: true },
  { place: "before the commit of the work", number: 2, when: "before", isReceived: true },
  { place: "after the work, before the answer", number: 2, when: "after", isReceived: true },
] as const;

test.for(crashes)(
  "a message that crashes $place is received once, and its repetition too",
  {
    tags: "both",
  },
  async ({ number, when, isReceived }) => {
    const from = newNumber();
    const json = { from, text: "Hello?", channel_message_id: `in.${from}` };
    const cursor = await readCursor();
    const restore = await crash(number, when);
    expect((await post(json)).status).toBe(500);
    restore();
    await app.advanceTime(takeoverMs);
    const received = await receivedFrom(app, from);
    expect(received.map(({ text }) => text?.body)).toEqual(isReceived ? ["Hello?"] : []);
    const { message_id } = await write(json);
    expect(await receivedFrom(app, from)).toMatchObject([{ id: message_id }]);
    const { data: events } = await app.call(webhooks.list_events, {
      after: cursor,
      types: "message.received,message.reaction",
    });
    expect(events).toMatchObject([{ type: "message.received", data: { message_id } }]);
    expect(await jobsLeft()).toEqual([]);
  },
);

test.for(crashes)(
  "a reaction that crashes $place is applied once, and its repetition too",
  {
    tags: "both",
  },
  async ({ number, when, isReceived }) => {
    const from = newNumber();
    await write({ from, text: "Hello", channel_message_id: `in.${from}` });
    const reaction = { message_id: `in.${from}`, emoji: "👍" };
    const json = { from, reaction, channel_message_id: `reaction.${from}` };
    const cursor = await readCursor();
    const restore = await crash(number, when);
    expect((await post(json)).status).toBe(500);
    restore();
    await app.advanceTime(takeoverMs);
    const [reacted] = await receivedFrom(app, from);
    expect(reacted?.reactions.map(({ emoji }) => emoji)).toEqual(isReceived ? ["👍"] : []);
    const { message_id } = await write(json);
    expect(await receivedFrom(app, from)).toMatchObject([{ id: message_id, reactions: [{ emoji: "👍" }] }]);
    const { data: events } = await app.call(webhooks.list_events, {
      after: cursor,
      types: "message.received,message.reaction",
    });
    expect(events).toMatchObject([{ type: "message.reaction", data: { message_id } }]);
    expect(await jobsLeft()).toEqual([]);
  },
);

test("without a crash, no job is left, and a rejected report leaves none", async () => {
  const from = newNumber();
  await write({ from, text: "Hello" });
  expect((await post({ from, text: "Hello", to: "+14155550000" })).status).toBe(404);
  expect((await post({ from, revoke: { message_id: "unknown" } })).status).toBe(400);
  expect(await jobsLeft()).toEqual([]);
});

test("kill -9 between the job and its work: another process receives the message, once", {
  tags: "postgres",
  timeout: 90_000,
}, async () => {
  await using processes = await openProcesses();
  const killed = await processes.serve();
  const from = newNumber();
  const body = JSON.stringify({ from, text: "Hello?", channel_message_id: "in.1" });
  const headers = { "x-api-key": ownerKey, "content-type": "application/json" };
  const send = (address: string) => fetch(`${address}/simulator/inbound`, { method: "POST", headers, body });
  {
    await using locking = await connectTo(processes.env.DATABASE_URL ?? "");
    await locking.query("begin");
    await locking.query("lock table messages in share row exclusive mode");
    const unanswered = expect(send(killed.address)).rejects.toThrow("fetch failed");
    unanswered.catch(() => undefined); // Awaited below.
    const jobs = () => locking.query("select id from jobs where name = 'message.receive'");
    await waitUntil(async () => (await jobs()).length === 1);
    await killed.process.end("SIGKILL");
    await unanswered;
  }
  await using other = await startTestApp({
    database: processes.database,
    startsAt: new Date(Date.now() + 60_000),
  });
  expect(await receivedFrom(other, from)).toEqual([]);
  await other.runDueJobs();
  const received = await receivedFrom(other, from);
  expect(received).toMatchObject([{ text: { body: "Hello?" } }]);
  expect((await send(other.address)).status).toBe(201);
  await other.advanceTime(60_000);
  expect(await receivedFrom(other, from)).toEqual(received);
});

test("the same message to two processes at once is stored once, and both answers name it", {
  tags: "postgres",
}, async () => {
  await using database = await createTestDatabase();
  await using one = await startTestApp({ database });
  await using other = await startTestApp({ database });
  const url = database.env.DATABASE_URL ?? "";
  await using locking = await connectTo(url);
  // A transaction sees no sessions that begin after it first looked.
  await using watching = await connectTo(url);
  const from = newNumber();
  const json = { from, text: "Hello?", channel_message_id: "in.1" };
  await locking.query("begin");
  await locking.query("lock table messages in share row exclusive mode");
  const answers = Promise.all([one, other].map((each) => write(json, each)));
  const [first, second] = await meanwhile(answers, async () => {
    // Both have looked for the message, and found none.
    const waiting =
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    await waitUntil(async () => (await watching.query(waiting)).length === 2);
    await locking.query("rollback");
  });
  expect(first).toEqual(second);
  expect(await receivedFrom(one, from)).toMatchObject([{ id: first?.message_id }]);
});
