/**
 * Receives receipts from a channel. Safe to repeat.
 *
 * A receipt may arrive before its message is known by its channel id; it is then parked until it is.
 */
import type { Transaction } from "../../../database/database.ts";
import type { Receipt } from "../../../ports/channel.ts";
import { defineRetentionJob, type World } from "../../kernel/index.ts";
import {
  applyParkedReceipts,
  applyStatusUpdate,
  lockChannelId,
  lockMessage,
  toStatusUpdate,
} from "../progress.ts";

export async function receiveReceipts(world: World, receipts: readonly Receipt[]): Promise<void> {
  for (const receipt of receipts) {
    const isApplied = await world.database.transaction((tx) => applyReceipt(tx, world, receipt));
    if (!isApplied) {
      await world.database.transaction((tx) => applyParkedIfMessageExists(tx, world, receipt));
    }
  }
}

/** Returns false if the message does not exist yet and the receipt was parked. */
async function applyReceipt(tx: Transaction, world: World, receipt: Receipt): Promise<boolean> {
  const id = receipt.token ?? (await findMessageId(tx, receipt));
  const message = id === undefined ? undefined : await lockMessage(tx, receipt.organization_id, id);
  if (!message) {
    await lockChannelId(tx, receipt.channel_message_id);
    await park(tx, receipt, world.now());
    return false;
  }
  const { channel_message_id } = receipt;
  await applyStatusUpdate(tx, world, message, { ...toStatusUpdate(receipt), channel_message_id });
  return true;
}

/** The message may have been stored while its receipt was being parked; nothing else would apply it then. */
async function applyParkedIfMessageExists(tx: Transaction, world: World, receipt: Receipt): Promise<void> {
  const id = await findMessageId(tx, receipt);
  const message = id === undefined ? undefined : await lockMessage(tx, receipt.organization_id, id);
  if (message) {
    await applyParkedReceipts(tx, world, message);
  }
}

export const deleteOldReceiptsJob = defineRetentionJob({
  name: "receipt.forget",
  schedule: "17 * * * *",
  rules: [
    // A message that is not known by then never will be.
    { table: "parked_receipts", column: "parked_at", days: 7 },
    // The message has the times of its states.
    { table: "message_receipts", column: "occurred_at", days: "receipts" },
  ],
});

async function findMessageId(tx: Transaction, receipt: Receipt): Promise<string | undefined> {
  const row = await tx
    .selectFrom("messages")
    .select("id")
    .where("organization_id", "=", receipt.organization_id)
    .where("channel_message_id", "=", receipt.channel_message_id)
    .executeTakeFirst();
  return row?.id;
}

async function park(tx: Transaction, receipt: Receipt, now: Date): Promise<void> {
  await tx
    .insertInto("parked_receipts")
    .values({
      organization_id: receipt.organization_id,
      channel_message_id: receipt.channel_message_id,
      type: receipt.type,
      occurred_at: receipt.occurred_at,
      error: receipt.failure && JSON.stringify(receipt.failure),
      parked_at: now.toISOString(),
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}
