/** The simulated channel's ledger: atomic, shared between instances, without duplicates. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createSimulator } from "../src/adapters/channel/simulator/index.ts";
import { createSimulatorStore } from "../src/adapters/channel/simulator/ledger.ts";
import type { DueReceipt } from "../src/adapters/channel/simulator/store.ts";
import type { Database, DatabaseTransaction } from "../src/database/database.ts";
import { insertJobs } from "../src/jobs/enqueue.ts";
import type { NewJob } from "../src/jobs/job.ts";
import type { Receipt } from "../src/ports/channel/channel.ts";
import { lendTestDatabase, queryOf, type TestDatabase } from "./support/database.ts";
import { emptyTables } from "./support/empty-database.ts";
import { outboundMessage, sendOptions } from "./support/simulator-memory.ts";

const phone = "+14155550123";
const now = () => new Date("2026-03-01T10:00:00.000Z");
let lent: TestDatabase;
let database: Database;

beforeAll(async () => {
  const obtained = await lendTestDatabase();
  [lent, database] = [obtained, obtained.opened];
});

afterAll(() => lent[Symbol.asyncDispose]());

describe("the ledger", { tags: "both" }, () => {
  beforeEach(async () => {
    await emptyTables(queryOf(database), ["simulator_messages", "simulator_faults", "jobs"]);
  });

  test("a message and its receipt jobs are stored together", async () => {
    const { send } = simulate();
    const sent = await send();
    const jobs = await dueJobs();
    expect(jobs.map(({ payload }) => payload)).toMatchObject([
      { type: "sent", isTold: true, token: "msg_1", ...idOf(sent) },
      { type: "delivered", isTold: true, token: "msg_1", ...idOf(sent) },
    ]);
    expect(jobs).toMatchObject([
      { name: "simulator.receipt", key: idOf(sent).channel_message_id, run_at: "2026-03-01T10:00:00.000Z" },
      { name: "simulator.receipt", key: idOf(sent).channel_message_id, run_at: "2026-03-01T10:00:00.150Z" },
    ]);
  });

  test("a message whose receipt jobs can't be stored is not accepted", async () => {
    const { send, channel } = simulate(async () => {
      throw new Error("crash");
    });
    await expect(send()).rejects.toThrow("crash");
    expect(await channel.find("msg_1", "org_1")).toEqual({ outcome: "absent" });
  });

  test("another instance finds, delivers and lists a message", async () => {
    const { send } = simulate();
    const sent = await send();
    const { channel, controls, receiptJob, receipts } = simulate();
    expect(await channel.find("msg_1", "org_1")).toEqual(sent);
    expect(await channel.find("msg_1", "org_2")).toEqual({ outcome: "absent" });
    for (const { payload } of await dueJobs()) {
      await receiptJob.run(payload);
    }
    expect(receipts).toMatchObject([
      { type: "sent" },
      { type: "delivered", occurred_at: "2026-03-01T10:00:00.150Z" },
    ]);
    const { messages, total } = await controls.listMessages("org_1", phone);
    expect(total).toBe(1);
    expect(messages).toMatchObject([
      {
        status: "delivered",
        content: { type: "text", text: { body: "Hello" } },
        created_at: "2026-03-01T10:00:00.000Z",
      },
    ]);
  });

  test("a message sent twice is listed twice, and the first is found", async () => {
    const { send, channel, controls } = simulate();
    const first = await send();
    await send();
    expect((await controls.listMessages("org_1", phone)).total).toBe(2);
    expect(await channel.find("msg_1", "org_1")).toEqual(first);
  });

  test("concurrent reads read each message once, and a late receipt changes nothing", async () => {
    const { send, controls, receiptJob } = simulate();
    await Promise.all(Array.from({ length: 20 }, (_, index) => send({ token: `msg_${index}` })));
    const delivered = await dueJobs();
    await Promise.all(delivered.map(({ payload }) => receiptJob.run(payload)));
    const read = await Promise.all([
      controls.readMessages("org_1", phone),
      controls.readMessages("org_1", phone),
    ]);
    expect(read.reduce((sum, count) => sum + count)).toBe(20);
    expect((await dueJobs()).length - delivered.length).toBe(20);
    await Promise.all(delivered.map(({ payload }) => receiptJob.run(payload)));
    const { messages } = await controls.listMessages("org_1", phone);
    expect(new Set(messages.map(({ status }) => status))).toEqual(new Set(["read"]));
  });

  test("receipts of broadcast messages that were accepted together share a job, until they are due", async () => {
    const { send, controls } = simulate();
    const tokens = ["msg_1", "msg_2", "msg_3"];
    await Promise.all([
      ...tokens.map((token) => send({ token, is_bulk: true })),
      send({ token: "msg_4", is_bulk: true, organization_id: "org_2" }),
    ]);
    const jobs = await dueJobs();
    const sent = { name: "simulator.receipts", run_at: "2026-03-01T10:00:00.000Z" };
    const delivered = { ...sent, run_at: "2026-03-01T10:00:00.150Z" };
    expect(jobs).toMatchObject([
      { ...sent, organization_id: "org_1", lane: "~simulator:org_1" },
      { ...delivered, organization_id: "org_1", lane: "~simulator:org_1" },
      { ...sent, organization_id: "org_2", lane: "~simulator:org_2" },
      { ...delivered, organization_id: "org_2", lane: "~simulator:org_2" },
    ]);
    const { receiptsJob, receipts } = simulate();
    const ofFirst = jobs.filter(({ organization_id }) => organization_id === "org_1");
    // As after a crash, each job runs twice.
    for (const { payload } of [...ofFirst, ...ofFirst]) {
      const stored = receiptsJob.payload.safeParse(payload);
      expect(stored.success).toBe(true);
      await (stored.success && receiptsJob.run(stored.data));
    }
    const reported = receipts.map(({ token, type }) => `${token} ${type}`);
    const once = ["sent", "delivered"].flatMap((type) => tokens.map((token) => `${token} ${type}`));
    expect(reported).toEqual([...once, ...once]);
    const statusesOf = async (organization: string) =>
      (await controls.listMessages(organization, phone)).messages.map(({ status }) => status);
    expect(await statusesOf("org_1")).toEqual(["delivered", "delivered", "delivered"]);
    expect(await statusesOf("org_2")).toEqual(["accepted"]);
  });

  test("faults are stored per organization, and replaced as a whole", async () => {
    await simulate().controls.replaceFaults("org_1", { lost_answers: 1 });
    await simulate().controls.replaceFaults("org_1", { failures: [{ code: 131051 }] });
    const { send, controls } = simulate();
    expect(await controls.getFaults("org_1")).toMatchObject({
      lost_answers: 0,
      failures: [{ code: 131051, share: 1 }],
    });
    expect(await send()).toMatchObject({ outcome: "refused" });
    expect(await send({ organization_id: "org_2" })).toMatchObject({ outcome: "accepted" });
  });

  test("receipt jobs of a message are enqueued in the order in which they are due, since they run in sequence", async () => {
    const { send, controls } = simulate();
    await controls.replaceFaults("org_1", { swapped_receipts: 1, doubled_receipts: 1 });
    await send();
    const times = (await dueJobs()).map(({ run_at }) => run_at);
    expect(times).toHaveLength(6);
    expect(times).toEqual([...times].sort());
  });

  test("an inbound message is stored once; the newest is listed first", async () => {
    await simulate().send();
    const { channel, controls } = simulate(enqueueNow, "2026-03-01T10:00:01.000Z");
    const message = {
      organization_id: "org_1",
      from: { phone },
      content: { type: "text", text: { body: "Hi" } },
      channel_message_id: "an id that sorts first",
    } as const;
    const results = await Promise.all([controls.receiveInbound(message), controls.receiveInbound(message)]);
    expect(results[0]).toEqual(results[1]);
    const { messages, total } = await controls.listMessages("org_1", phone, { limit: 1 });
    expect(await channel.find(message.channel_message_id, "org_1")).toEqual({ outcome: "absent" });
    expect({ total, messages }).toMatchObject({
      total: 2,
      messages: [{ id: message.channel_message_id, status: "received" }],
    });
  });
});

function simulate(enqueue = enqueueNow, at = now().toISOString()) {
  const receipts: Receipt[] = [];
  const simulator = createSimulator({
    findRefusal: async () => null,
    store: createSimulatorStore({ database, enqueue }),
    now: () => new Date(at),
    callbacks: {
      onReceipts: async (delivered) => {
        receipts.push(...delivered);
      },
      onMessage: async ({ channel_message_id }) => ({
        message_id: channel_message_id,
        conversation_id: "conv_1",
      }),
      onChange: async () => undefined,
    },
  });
  const send = (message = {}) => simulator.channel.send(outboundMessage(message), sendOptions);
  return { ...simulator, receipts, send };
}

async function enqueueNow(tx: DatabaseTransaction, jobs: readonly NewJob[]): Promise<void> {
  await insertJobs(tx, jobs, now());
}

async function dueJobs() {
  const jobs = await database.queries.selectFrom("jobs").selectAll().orderBy("id").execute();
  // Only the simulator adds jobs here.
  return jobs.map((job) => ({ ...job, payload: job.payload as DueReceipt }));
}

function idOf(sent: object): { channel_message_id: string } {
  return { channel_message_id: String(Reflect.get(sent, "channel_message_id")) };
}
