/** Moves a message on: applies what is known of it, and tells the house when its status changed. */
import type { Selectable } from "kysely";
import type { Transaction } from "../../database/database.ts";
import type { Tables } from "../../database/schema/index.ts";
import type { Receipt, ReceiptType } from "../../ports/channel.ts";
import { emit, type World } from "../kernel/index.ts";
import { explain, type MessageError } from "./failures.ts";
import { advance } from "./states.ts";

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

/** Applies one fact to a locked message: its receipt is kept once, its status only ever rises. */
export async function move(
  tx: Transaction,
  world: World,
  message: MessageRow,
  fact: { type: ReceiptType; at: string; error?: MessageError; channel_message_id?: string },
): Promise<MessageRow> {
  const error = fact.error === undefined ? null : JSON.stringify(fact.error);
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto("message_receipts")
    .values({
      organization_id: message.organization_id,
      message_id: message.id,
      type: fact.type,
      occurred_at: fact.at,
      error,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  if (!numInsertedOrUpdatedRows) {
    return message;
  }
  const { after, moved } = advance(message, fact.type, fact.at);
  const shown = moved ? { error: fact.type === "failed" ? error : null } : {};
  const changed = await tx
    .updateTable("messages")
    .set({
      ...progressOf(after),
      ...shown,
      channel_message_id: message.channel_message_id ?? fact.channel_message_id ?? null,
    })
    .where("organization_id", "=", message.organization_id)
    .where("id", "=", message.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  if (moved) {
    await tell(tx, world, changed, fact);
  }
  return changed;
}

/** Applies the receipts that came before the message they speak of was known by its channel id. */
export async function applyParked(tx: Transaction, world: World, message: MessageRow): Promise<void> {
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
  for (const { type, occurred_at, failure } of parked.map(unpark)) {
    current = await move(tx, world, current, receiptFact({ type, occurred_at, failure }));
  }
}

export function receiptFact(receipt: Pick<Receipt, "type" | "occurred_at" | "failure">) {
  const { type, occurred_at, failure } = receipt;
  return { type, at: occurred_at, ...(failure ? { error: explain(failure) } : {}) };
}

function unpark(
  row: Selectable<Tables["parked_receipts"]>,
): Pick<Receipt, "type" | "occurred_at" | "failure"> {
  // Written by `park` from a receipt's own failure.
  return { type: row.type, occurred_at: row.occurred_at, failure: row.error as Receipt["failure"] };
}

function progressOf({
  status,
  sent_at,
  delivered_at,
  read_at,
  failed_at,
}: MessageRow | ReturnType<typeof advance>["after"]) {
  return { status, sent_at, delivered_at, read_at, failed_at };
}

/** The order in which a message can come to be each of these: what fails may yet prove to be delivered. */
const sequences: Record<ReceiptType, number> = { sent: 1, failed: 2, delivered: 3, read: 4 };

async function tell(
  tx: Transaction,
  world: World,
  message: MessageRow,
  { type, at, error }: { type: ReceiptType; at: string; error?: MessageError },
): Promise<void> {
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
