/**
 * Receipts of a channel: their times, the events that they cause, and those that arrive before their message.
 *
 * @module-tag both
 */
import { beforeAll, expect, test } from "vitest";
import type { World } from "../src/platform/foundation/kernel/index.ts";
import { receiveReceipts } from "../src/platform/inbox/messages/index.ts";
import {
  applyUpdates,
  lockMessages,
  takeParkedUpdates,
} from "../src/platform/inbox/messages/progress/index.ts";
import { modules } from "../src/platform/index.ts";
import type { Receipt, ReceiptType } from "../src/ports/channel/channel.ts";
import { messages } from "../tools/messages/index.ts";
import { webhooks } from "../tools/webhooks.ts";
import { useTestApp } from "./support/app.ts";
import { setFaults } from "./support/simulator.ts";
import { createWorldProbe } from "./support/world.ts";

let world: World;

const { probe, readWorld } = createWorldProbe();
const app = useTestApp({ enabledModules: { ...modules, probe } });

beforeAll(async () => {
  world = await readWorld(app);
  // The channel of these tests sends its receipts itself.
  await setFaults(app, { lost_receipts: 1 });
});

const send = async (to: string) =>
  (await app.call(messages.send_message, { to, type: "text", text: { body: "hello" } })).data;

const reload = async ({ id, conversation_id }: { id: string; conversation_id: string }) =>
  (await app.call(messages.get_message, { conversation_id, message_id: id })).data;

/** A time before or after now. */
const at = (seconds: number) => new Date(app.now().getTime() + seconds * 1000).toISOString();

async function receive(token: string, ...receipts: { type: ReceiptType; at: string }[]): Promise<void> {
  const { organization_id } = await app.server.database.queries
    .selectFrom("messages")
    .select("organization_id")
    .where("id", "=", token)
    .executeTakeFirstOrThrow();
  const common = { organization_id, channel_message_id: `wamid.${token}`, token, failure: null };
  await receiveReceipts(
    world,
    receipts.map(({ type, at }) => ({ ...common, type, occurred_at: at })),
  );
}

async function statusEvents(after: string) {
  const { data: events } = await app.call(webhooks.list_events, { after });
  return events.map(({ type, data: { timestamp, sequence } }) => ({ type, timestamp, sequence }));
}

test("sent_at is the channel's time once its receipt arrives", async () => {
  const message = await send("+14155550110");
  await app.runDueJobs();
  const accepted = await reload(message);
  expect(accepted).toMatchObject({ status: "sent", sent_at: app.now().toISOString() });
  const sent = at(-2);
  await receive(message.id, { type: "sent", at: sent });
  expect(await reload(message)).toMatchObject({ status: "sent", sent_at: sent });
  await receive(message.id, { type: "sent", at: at(9) });
  expect(await reload(message)).toMatchObject({ sent_at: sent });
});

test("a time is never later than that of the next status", async () => {
  const message = await send("+14155550111");
  await app.runDueJobs();
  const [early, late] = [at(-5), at(5)];
  await receive(message.id, { type: "delivered", at: early });
  expect(await reload(message)).toMatchObject({ sent_at: early, delivered_at: early });
  await receive(message.id, { type: "sent", at: late }, { type: "read", at: late });
  expect(await reload(message)).toMatchObject({ sent_at: early, delivered_at: early, read_at: late });
});

test("a read receipt that arrives first also emits that the message was delivered", async () => {
  const message = await send("+14155550112");
  await app.runDueJobs();
  const { cursor } = (await app.call(webhooks.list_events, {})).meta;
  const read = at(3);
  await receive(message.id, { type: "read", at: read }, { type: "delivered", at: at(1) });
  expect(await statusEvents(cursor)).toEqual([
    { type: "message.delivered", timestamp: read, sequence: 3 },
    { type: "message.read", timestamp: read, sequence: 4 },
  ]);
  expect(await reload(message)).toMatchObject({ status: "read", delivered_at: at(1), read_at: read });
});

test("a receipt that arrives while its message is being stored as sent is applied", async () => {
  const message = await send("+14155550113");
  const channel_message_id = "wamid.parked";
  let parked: Promise<void> | undefined;
  await world.database.transaction(async (tx) => {
    const { organization_id } = await tx
      .selectFrom("messages")
      .select("organization_id")
      .where("id", "=", message.id)
      .executeTakeFirstOrThrow();
    const messages = await lockMessages(tx, { organization: organization_id, ids: [message.id] });
    const accepted = { message_id: message.id, type: "accepted", at: at(0), channel_message_id } as const;
    const ids = new Map([[channel_message_id, message.id]]);
    await takeParkedUpdates(tx, { organization: organization_id, ids });
    await applyUpdates(tx, world, { messages, updates: [accepted] });
    const receipt: Receipt = {
      organization_id,
      channel_message_id,
      token: null,
      failure: null,
      type: "delivered",
      occurred_at: at(1),
    };
    parked = receiveReceipts(world, [receipt]);
    // It is awaited after the commit.
    parked.catch(() => undefined);
    // Time for the receipt to be parked, which it may not be before this transaction has ended.
    for (let query = 0; query < 50; query += 1) {
      await tx.selectFrom("messages").select("id").where("id", "=", message.id).execute();
    }
  });
  await parked;
  expect(await reload(message)).toMatchObject({ status: "delivered", delivered_at: at(1) });
});
