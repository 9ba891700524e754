/**
 * Receives receipts from a channel. Safe to repeat.
 *
 * A receipt may arrive before its message is known by its channel id. It is then parked until the message is
 * known. Receipts that arrive together are applied together.
 */
import { sql } from "kysely";
import { together } from "../../../../database/transaction.ts";
import type { Receipt } from "../../../../ports/channel/channel.ts";
import {
  defineRetentionJob,
  shareTransactions,
  type Transaction,
  type World,
} from "../../../foundation/kernel/index.ts";
import {
  applyParkedReceipts,
  applyUpdates,
  lockChannelIds,
  lockMessages,
  type Messages,
  toStatusUpdate,
} from "../progress/index.ts";

export async function receiveReceipts(world: World, receipts: readonly Receipt[]): Promise<void> {
  await Promise.all(receipts.map((receipt) => receiveReceipt(world, receipt)));
}

async function receiveReceipt(world: World, receipt: Receipt): Promise<void> {
  const { isParked } = await applyReceipt(world, receipt);
  if (isParked) {
    await applyParkedReceipt(world, receipt);
  }
}

const applyReceipt = shareTransactions(applyReceipts);

/** Applies receipts of one organization. Parks the receipts of messages that are not known yet. */
async function applyReceipts(
  tx: Transaction,
  world: World,
  receipts: readonly Receipt[],
): Promise<readonly { readonly isParked: boolean }[]> {
  const messages = await lockMessagesOf(tx, receipts);
  const idOf = createLookup(messages);
  const isParked = (receipt: Receipt) => idOf(receipt) === undefined;
  await park(tx, receipts.filter(isParked), world.now());
  const updates = receipts.flatMap((receipt) => {
    const id = idOf(receipt);
    return id === undefined ? [] : [toStatusUpdate(id, receipt)];
  });
  await applyUpdates(tx, world, { messages, updates });
  return receipts.map((receipt) => ({ isParked: isParked(receipt) }));
}

/**
 * A message may have been stored while its receipt was being parked: nothing else would apply this receipt.
 */
const applyParkedReceipt = shareTransactions(
  async (tx: Transaction, world: World, receipts: readonly Receipt[]): Promise<readonly undefined[]> => {
    const messages = await lockMessagesOf(tx, receipts);
    await applyParkedReceipts(tx, world, { organization: organizationOf(receipts), messages });
    return receipts.map(() => undefined);
  },
);

function lockMessagesOf(tx: Transaction, receipts: readonly Receipt[]): Promise<Messages> {
  return lockMessages(tx, {
    organization: organizationOf(receipts),
    ids: receipts.flatMap(({ token }) => token ?? []),
    channelIds: receipts.map(({ channel_message_id }) => channel_message_id),
  });
}

/** Finds the message of a receipt by its token, or without one by the channel's id. */
function createLookup(messages: Messages) {
  const byChannelId = new Map(
    [...messages.values()].map(({ id, channel_message_id }) => [channel_message_id, id]),
  );
  return ({
    token,
    channel_message_id,
  }: Pick<Receipt, "token" | "channel_message_id">): string | undefined => {
    const id = token ?? byChannelId.get(channel_message_id);
    return id !== undefined && messages.has(id) ? id : undefined;
  };
}

function organizationOf([first]: readonly Receipt[]): string {
  return first?.organization_id ?? "";
}

async function park(tx: Transaction, receipts: readonly Receipt[], now: Date): Promise<void> {
  if (receipts.length === 0) {
    return;
  }
  const rows = receipts.map(
    ({ organization_id, channel_message_id, type, occurred_at, failure, pricing }) => {
      const receipt = { organization_id, channel_message_id, type, occurred_at, error: failure, pricing };
      return { ...receipt, parked_at: now };
    },
  );
  await together(
    lockChannelIds(
      tx,
      receipts.map(({ channel_message_id }) => channel_message_id),
    ),
    sql`
      insert into parked_receipts
      select * from jsonb_populate_recordset(null::parked_receipts, ${JSON.stringify(rows)}::jsonb)
      on conflict do nothing
    `.execute(tx),
  );
}

export const deleteOldReceiptsJob = defineRetentionJob({
  name: "receipt.forget",
  schedule: "17 * * * *",
  rules: [
    // A message that is unknown after seven days stays unknown.
    { table: "parked_receipts", column: "parked_at", days: 7 },
    // The message has the times of its states.
    { table: "message_receipts", column: "occurred_at", days: "receipts" },
  ],
});
