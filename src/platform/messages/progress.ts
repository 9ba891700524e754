/** Advances an outbound message: applies receipts and emits an event when its status changes. */
import { type Selectable, sql } from "kysely";
import type { Transaction } from "../../database/database.ts";
import type { Tables } from "../../database/schema/index.ts";
import type { Receipt, ReceiptType } from "../../ports/channel.ts";
import { emit, type World } from "../kernel/index.ts";
import { type DeliveryError, toDeliveryError } from "./failures.ts";
import { advanceStatus, type Step, statusOf, successes } from "./states.ts";

export type MessageRow = Selectable<Tables["messages"]>;

/** The outbound message with this id, locked until the commit. */
export async function lockMessage(tx: Transaction, organization: string, id: string) {
  return tx
    .selectFrom("messages")
    .selectAll()
    .where("organization_id", "=", organization)
    .where("id", "=", id)
    .where("direction", "=", "outbound")
    .forUpdate()
    .executeTakeFirst();
}

/** A receipt, the channel's acceptance, or a failure of our own. */
export interface StatusUpdate {
  readonly type: Step;
  readonly at: string;
  readonly error?: DeliveryError | undefined;
  readonly channel_message_id?: string;
}

/** Applies an update to a locked message. Each receipt is recorded once; the status never goes back. */
export async function applyStatusUpdate(
  tx: Transaction,
  world: World,
  message: MessageRow,
  update: StatusUpdate,
): Promise<MessageRow> {
  // The channel's text may contain the number of a contact who has been erased.
  const isErased = message.to === null;
  const failure = update.error && isErased ? { ...update.error, title: "", detail: null } : update.error;
  const error = failure === undefined ? null : JSON.stringify(failure);
  const { type, at } = update;
  if (type !== "accepted" && !(await recordReceipt(tx, message, { type, at, error }))) {
    return message;
  }
  const { status, sent_at, delivered_at, read_at, failed_at } = advanceStatus(message, type, at);
  const isChanged = status !== message.status;
  const updated = await tx
    .updateTable("messages")
    .set({
      ...{ status, sent_at, delivered_at, read_at, failed_at },
      ...(isChanged ? { error: type === "failed" ? error : null } : {}),
      channel_message_id: message.channel_message_id ?? update.channel_message_id ?? null,
    })
    .where("organization_id", "=", message.organization_id)
    .where("id", "=", message.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  if (isChanged) {
    emitStatuses(tx, world, { before: message, after: updated }, { ...update, error: failure });
  }
  return updated;
}

/** False if the message has a receipt of this type already. */
async function recordReceipt(
  tx: Transaction,
  message: MessageRow,
  { type, at, error }: { type: ReceiptType; at: string; error: string | null },
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto("message_receipts")
    .values({
      organization_id: message.organization_id,
      message_id: message.id,
      ...{ type, error, occurred_at: at },
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return Boolean(numInsertedOrUpdatedRows);
}

/**
 * Of a transaction that parks a receipt and one that stores the channel's id, the second waits for the first: else
 * neither would see what the other has written.
 */
export async function lockChannelId(tx: Transaction, channelMessageId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${channelMessageId}, 0))`.execute(tx);
}

/** Applies the receipts that arrived before this message had its channel id. */
export async function applyParkedReceipts(tx: Transaction, world: World, message: MessageRow): Promise<void> {
  if (message.channel_message_id === null) {
    return;
  }
  await lockChannelId(tx, message.channel_message_id);
  const parked = await tx
    .deleteFrom("parked_receipts")
    .where("organization_id", "=", message.organization_id)
    .where("channel_message_id", "=", message.channel_message_id)
    .returningAll()
    .execute();
  let current = message;
  for (const { type, occurred_at, error: failure } of parked) {
    current = await applyStatusUpdate(tx, world, current, toStatusUpdate({ type, occurred_at, failure }));
  }
}

export function toStatusUpdate(receipt: Pick<Receipt, "type" | "occurred_at" | "failure">): StatusUpdate {
  const { type, occurred_at, failure } = receipt;
  return { type, at: occurred_at, ...(failure ? { error: toDeliveryError(failure) } : {}) };
}

/** The `sequence` of each status event. `failed` is below `delivered`: a failed message may yet be delivered. */
const sequences: Record<ReceiptType, number> = { sent: 1, failed: 2, delivered: 3, read: 4 };

/** Emits an event for each status that is new, also for those that a receipt skipped. */
function emitStatuses(
  tx: Transaction,
  world: World,
  { before, after }: { before: MessageRow; after: MessageRow },
  { type, at, error }: StatusUpdate,
): void {
  const status = statusOf(type);
  for (const { status: skipped, column } of successes) {
    const skippedAt = after[column];
    if (skipped !== status && skippedAt !== null && before[column] === null) {
      emitStatus(tx, world, after, { status: skipped, at: skippedAt });
    }
  }
  emitStatus(tx, world, after, { status, at, error });
}

function emitStatus(
  tx: Transaction,
  world: World,
  message: MessageRow,
  { status, at, error }: { status: ReceiptType; at: string; error?: DeliveryError | undefined },
): void {
  emit(tx, world, {
    type: `message.${status}`,
    organization_id: message.organization_id,
    order: message.id,
    data: {
      message_id: message.id,
      conversation_id: message.conversation_id,
      to: message.to ?? "",
      type: message.type,
      status,
      timestamp: at,
      sequence: sequences[status],
      ...(error ? { error } : {}),
    },
  });
}
