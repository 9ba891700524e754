/**
 * Advances outbound messages: applies receipts, and emits an event when a status changes.
 *
 * A batch costs the same number of statements as one message. Its messages are of one organization and locked
 * in the order of their ids, then its channel ids in their order, so that two batches do not deadlock.
 */
import { type Selectable, sql } from "kysely";
import { allColumnsOf, columnsOf, matchesKey, nullable, rowsOf } from "../../../../database/query/index.ts";
import type { ReportedFailure, Tables } from "../../../../database/schema/index.ts";
import { together } from "../../../../database/transaction.ts";
import type { Pricing, Receipt, ReceiptType } from "../../../../ports/channel/channel.ts";
import type { Transaction, World } from "../../../foundation/kernel/index.ts";
import { recordTransfers, type Transfer } from "../../../money/wallet/index.ts";
import { createCharger } from "../charge/index.ts";
import { newOptOuts } from "../consent-job.ts";
import { type BroadcastProgress, broadcastProgressed } from "../hooks.ts";
import { type DeliveryError, toDeliveryError } from "../wording/index.ts";
import { advanceStatus, type StatusStep, statusOf, successes } from "./states.ts";

export type MessageRow = Selectable<Tables["messages"]>;

const columns = [
  "organization_id",
  "id",
  "conversation_id",
  "to",
  "type",
  "status",
  "channel_message_id",
  "sent_at",
  "delivered_at",
  "read_at",
  "failed_at",
  "error",
  "charge",
  "broadcast_id",
] as const;

/** An outbound message as its progress needs it, locked until the commit. */
export interface LockedMessage extends Pick<MessageRow, (typeof columns)[number]> {
  /** Null unless it is a template. */
  readonly template_name: string | null;
}

/** By id. */
export type Messages = ReadonlyMap<string, LockedMessage>;

/** A receipt, the channel's acceptance, or a failure of our own. */
export interface StatusUpdate {
  readonly message_id: string;
  readonly type: StatusStep;
  readonly at: string;
  readonly error?: DeliveryError | undefined;
  readonly channel_message_id?: string | undefined;
  readonly pricing?: Pricing | undefined;
  /** An acceptance by a channel without receipts: the message is charged as if it were delivered. */
  readonly isLast?: boolean | undefined;
}

interface MessageNames {
  readonly organization: string;
  readonly ids: readonly string[];
  /** Finds messages by the channel's ids too. */
  readonly channelIds?: readonly string[];
}

/** The outbound messages of these names, locked until the commit. */
export async function lockMessages(
  tx: Transaction,
  { organization, ids, channelIds = [] }: MessageNames,
): Promise<Messages> {
  const { rows } = await rowsOf({ ...columnsOf("messages", ...columns), template_name: nullable("text") })`
    select ${sql.join(columns.map((column) => sql.ref(column)))}, content #>> '{template,name}' as template_name
    from messages
    where organization_id = ${organization} and direction = 'outbound' and id = any(array(
      select unnest(${ids}::text[])
      union all
      select id from messages where organization_id = ${organization} and channel_message_id = any(${channelIds}::text[])
    ))
    order by id
    for update
  `.execute(tx);
  return new Map(rows.map((message) => [message.id, message]));
}

/**
 * Applies updates, in their order, to locked messages; one of a message that is not among them is ignored.
 * Each receipt is recorded once; a status never goes back.
 */
export async function applyUpdates(
  tx: Transaction,
  world: World,
  { messages, updates }: { readonly messages: Messages; readonly updates: readonly StatusUpdate[] },
): Promise<void> {
  const known = updates.flatMap((update) => {
    const message = messages.get(update.message_id);
    return message ? [withoutPersonalData(update, message)] : [];
  });
  const [isNew, chargeAfter] = await together(
    recordReceipts(tx, messages, known),
    createCharger(tx, messages, known),
  );
  const current = new Map(messages);
  const transfers: Transfer[] = [];
  const progress: BroadcastProgress[] = [];
  for (const update of known) {
    const before = current.get(update.message_id);
    if (before && isNew(update)) {
      const progressed = advance(before, update);
      const { charge, transfers: added } = chargeAfter(progressed, update);
      const after = { ...progressed, charge };
      transfers.push(...added);
      current.set(before.id, after);
      if (after.status !== before.status) {
        emitStatuses(tx, world, { before, after }, update);
        progress.push(...progressOf(before, after));
      }
    }
  }
  const optOuts = newOptOuts(messages, known);
  const changed = [...current.values()].filter((message) => messages.get(message.id) !== message);
  // The broadcasts first: their rows are locked before the balances wherever both are.
  await together(
    storeProgress(tx, changed),
    progress.length > 0 && broadcastProgressed.run(world, tx, world, progress),
    recordTransfers(tx, transfers, world.now()),
    optOuts.length > 0 && tx.enqueue(optOuts),
  );
}

function progressOf(before: LockedMessage, after: LockedMessage): readonly BroadcastProgress[] {
  const { organization_id, broadcast_id, id: message_id, error } = after;
  const changed = { before: before.status, after: after.status, error };
  return broadcast_id === null ? [] : [{ organization_id, broadcast_id, message_id, ...changed }];
}

/** The channel's text may contain the number of a contact who has been erased. */
function withoutPersonalData(update: StatusUpdate, { to }: LockedMessage): StatusUpdate {
  return update.error && to === null
    ? { ...update, error: { ...update.error, title: "", detail: null } }
    : update;
}

/** The message after an update. */
function advance(
  before: LockedMessage,
  { type, at, error, channel_message_id }: StatusUpdate,
): LockedMessage {
  const { status, sent_at, delivered_at, read_at, failed_at } = advanceStatus(before, type, at);
  return {
    ...before,
    status,
    sent_at,
    delivered_at,
    read_at,
    failed_at,
    ...(status === before.status ? {} : { error: type === "failed" ? (error ?? null) : null }),
    channel_message_id: before.channel_message_id ?? channel_message_id ?? null,
  };
}

/**
 * Stores the receipts among the updates. The result tells whether an update counts: each type of receipt
 * counts once, every other update always.
 */
async function recordReceipts(
  tx: Transaction,
  messages: Messages,
  updates: readonly StatusUpdate[],
): Promise<(update: StatusUpdate) => boolean> {
  const keyOf = ({ message_id, type }: Pick<StatusUpdate, "message_id" | "type">) => `${message_id} ${type}`;
  const receipts = updates.filter(({ type }) => type !== "accepted");
  const first = new Map(receipts.toReversed().map((receipt) => [keyOf(receipt), receipt]));
  if (first.size === 0) {
    return () => true;
  }
  const given = [...first.values()].map(({ message_id, type, at, error }) => {
    const organization_id = messages.get(message_id)?.organization_id;
    return { organization_id, message_id, type, occurred_at: at, error };
  });
  const { rows } = await rowsOf(columnsOf("message_receipts", "message_id", "type"))`
    insert into message_receipts (organization_id, message_id, type, occurred_at, error)
    select organization_id, message_id, type, occurred_at, error
    from jsonb_populate_recordset(null::message_receipts, ${JSON.stringify(given)}::jsonb)
    on conflict do nothing
    returning message_id, type
  `.execute(tx);
  const added = new Set(rows.map(keyOf));
  return (update) =>
    update.type === "accepted" || (added.has(keyOf(update)) && first.get(keyOf(update)) === update);
}

async function storeProgress(tx: Transaction, messages: readonly LockedMessage[]): Promise<void> {
  const [first] = messages;
  if (!first) {
    return;
  }
  const changes = messages.map(({ id, status, error, channel_message_id, charge, ...message }) => {
    const { sent_at, delivered_at, read_at, failed_at } = message;
    return { id, status, error, channel_message_id, charge, sent_at, delivered_at, read_at, failed_at };
  });
  const ids = messages.map(({ id }) => id);
  await sql`
    update messages set status = change.status, error = change.error, channel_message_id = change.channel_message_id,
      sent_at = change.sent_at, delivered_at = change.delivered_at, read_at = change.read_at,
      failed_at = change.failed_at, charge = change.charge,
      -- A message that was sent or has failed needs its code no more.
      content = case when messages.content ? 'sealed_code' then messages.content - 'sealed_code'
        else messages.content end
    from jsonb_populate_recordset(null::messages, ${JSON.stringify(changes)}::jsonb) as change
    where messages.organization_id = ${first.organization_id}
      and ${matchesKey("messages.id", "change.id", ids)}
  `.execute(tx);
}

/**
 * Of a transaction that parks a receipt and one that stores the channel's id, the second waits for the first:
 * else neither would see what the other has written.
 */
export async function lockChannelIds(tx: Transaction, channelIds: readonly string[]): Promise<void> {
  const sorted = [...new Set(channelIds)].sort();
  await sql`
    select pg_advisory_xact_lock(hashtextextended(id, 0)) from unnest(${sorted}::text[]) as id
  `.execute(tx);
}

/** Applies the receipts that arrived before these messages were known by the channel's ids. */
export async function applyParkedReceipts(
  tx: Transaction,
  world: World,
  { organization, messages }: { readonly organization: string; readonly messages: Messages },
): Promise<void> {
  const ids = [...messages.values()].map(({ id, channel_message_id }) => [channel_message_id, id] as const);
  const updates = await takeParkedUpdates(tx, { organization, ids: new Map(ids) });
  await applyUpdates(tx, world, { messages, updates });
}

interface ParkedFor {
  readonly organization: string;
  /** The messages' ids by the ids of the channel. Null stands for those that the channel has not accepted. */
  readonly ids: ReadonlyMap<string | null, string>;
}

/** Takes the receipts that arrived before their messages had the ids of the channel, the earliest first. */
export async function takeParkedUpdates(
  tx: Transaction,
  { organization, ids }: ParkedFor,
): Promise<readonly StatusUpdate[]> {
  const channelIds = [...ids.keys()].filter((id) => id !== null);
  if (channelIds.length === 0) {
    return [];
  }
  const [, { rows }] = await together(
    lockChannelIds(tx, channelIds),
    rowsOf(allColumnsOf("parked_receipts"))`
      with taken as (
        delete from parked_receipts
        where organization_id = ${organization} and channel_message_id = any(${channelIds}::text[])
        returning *
      )
      select * from taken order by occurred_at
    `.execute(tx),
  );
  return rows.flatMap(({ error: failure, ...receipt }) => {
    const id = ids.get(receipt.channel_message_id);
    return id === undefined ? [] : [toStatusUpdate(id, { ...receipt, failure })];
  });
}

export function toStatusUpdate(
  message_id: string,
  receipt: Pick<Receipt, "channel_message_id" | "type" | "occurred_at" | "pricing"> & {
    readonly failure: ReportedFailure | null;
  },
): StatusUpdate {
  const { channel_message_id, type, occurred_at, failure, pricing } = receipt;
  return {
    message_id,
    channel_message_id,
    type,
    at: occurred_at,
    ...(pricing ? { pricing } : {}),
    ...(failure ? { error: toDeliveryError(failure) } : {}),
  };
}

/**
 * The `sequence` of each status event. `failed` is below `delivered`: a failed message may yet be delivered.
 */
const sequences: Record<ReceiptType, number> = { sent: 1, failed: 2, delivered: 3, read: 4 };

/** Emits an event for each new status, also for a status that a receipt skipped. */
function emitStatuses(
  tx: Transaction,
  world: World,
  { before, after }: { before: LockedMessage; after: LockedMessage },
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
  message: LockedMessage,
  { status, at, error }: { status: ReceiptType; at: string; error?: DeliveryError | undefined },
): void {
  tx.afterCommit(() => world.metrics.message(status));
  tx.emit({
    type: `message.${status}`,
    organization_id: message.organization_id,
    order: message.id,
    data: {
      message_id: message.id,
      conversation_id: message.conversation_id,
      to: message.to ?? "",
      type: message.type,
      ...(message.template_name === null ? {} : { template_name: message.template_name }),
      ...(message.broadcast_id === null ? {} : { broadcast_id: message.broadcast_id }),
      status,
      timestamp: at,
      sequence: sequences[status],
      ...(error ? { error } : {}),
    },
  });
}
