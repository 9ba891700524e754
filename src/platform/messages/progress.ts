/** Advances an outbound message: applies receipts and emits an event when its status changes. */
import type { Selectable } from "kysely";
import type { Transaction } from "../../database/database.ts";
import type { Tables } from "../../database/schema/index.ts";
import type { Receipt, ReceiptType } from "../../ports/channel.ts";
import { emit, type World } from "../kernel/index.ts";
import { type DeliveryError, toDeliveryError } from "./failures.ts";
import { advanceStatus } from "./states.ts";

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

/** A receipt, or a result of our own that counts as one. */
export interface StatusUpdate {
  readonly type: ReceiptType;
  readonly at: string;
  readonly error?: DeliveryError;
  readonly channel_message_id?: string;
}

/** Applies an update to a locked message. Each type is recorded once; the status never goes back. */
export async function applyStatusUpdate(
  tx: Transaction,
  world: World,
  message: MessageRow,
  update: StatusUpdate,
): Promise<MessageRow> {
  // The channel's text may contain the number of a contact who has been erased.
  const isErased = message.to === null;
  const error =
    update.error === undefined
      ? null
      : JSON.stringify(isErased ? { ...update.error, title: "", detail: null } : update.error);
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto("message_receipts")
    .values({
      organization_id: message.organization_id,
      message_id: message.id,
      type: update.type,
      occurred_at: update.at,
      error,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  if (!numInsertedOrUpdatedRows) {
    return message;
  }
  const { status, sent_at, delivered_at, read_at, failed_at } = advanceStatus(
    message,
    update.type,
    update.at,
  );
  const isChanged = status !== message.status;
  const updated = await tx
    .updateTable("messages")
    .set({
      ...{ status, sent_at, delivered_at, read_at, failed_at },
      ...(isChanged ? { error: update.type === "failed" ? error : null } : {}),
      channel_message_id: message.channel_message_id ?? update.channel_message_id ?? null,
    })
    .where("organization_id", "=", message.organization_id)
    .where("id", "=", message.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  if (isChanged) {
    emitStatus(tx, world, updated, update);
  }
  return updated;
}

/** Applies the receipts that arrived before this message had its channel id. */
export async function applyParkedReceipts(tx: Transaction, world: World, message: MessageRow): Promise<void> {
  if (message.channel_message_id === null) {
    return;
  }
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

function emitStatus(
  tx: Transaction,
  world: World,
  message: MessageRow,
  { type, at, error }: StatusUpdate,
): void {
  emit(tx, world, {
    type: `message.${type}`,
    organization_id: message.organization_id,
    order: message.id,
    data: {
      message_id: message.id,
      conversation_id: message.conversation_id,
      to: message.to ?? "",
      type: message.type,
      status: type,
      timestamp: at,
      sequence: sequences[type],
      ...(error ? { error } : {}),
    },
  });
}
