/**
 * Enqueues messages for the pending recipients of a broadcast, batch by batch.
 *
 * A recipient's message, its job and the mark on the recipient commit together: a crash neither loses a
 * recipient nor sends to one twice. At most `maxWindow` messages are queued at a time, which bounds what a
 * pause or a cancel can't stop.
 */

import { sql } from "kysely";
import { z } from "zod";
import type { PausedReason } from "../../../../../tools/broadcasts/index.ts";
import { ReachedBudget } from "../../../../../tools/budgets.ts";
import { InboxSettings } from "../../../../../tools/inboxes.ts";
import {
  allColumnsOf,
  byWholeKey,
  columnsOf,
  matchesKey,
  ofOrganization,
  type RowOf,
  recordset,
  rowsOf,
} from "../../../../database/query/index.ts";
import type { MessageCharge } from "../../../../database/schema/index.ts";
import { newJob } from "../../../../jobs/job.ts";
import { getOrDefaultInbox } from "../../../account/inboxes/index.ts";
import { isVersionSendable } from "../../../content/templates/index.ts";
import { defineJob, type Transaction, type World } from "../../../foundation/kernel/index.ts";
import { type BulkMessages, enqueueBulkMessages } from "../../../inbox/messages/index.ts";
import { type BroadcastRow, changeBroadcast, getBroadcast } from "../find.ts";
import { countMessages, type DispatchedBroadcast, findDispatched } from "./budgets.ts";
import { composeMessages, type MessagesToCompose } from "./compose.ts";
import { leftToday } from "./daily-limit.ts";
import { excludeRecipients } from "./exclude.ts";
import { completeIfDone } from "./progress.ts";

/** How many messages of a broadcast may be queued at a time. Enough for any rate until the next look. */
const maxWindow = 1_000;
const minWindow = 10;
const windowSeconds = 3;
/** Recipients per transaction. */
const batchSize = 250;
/** Time until the next look at a full window, well below the time in which the inbox sends a window. */
const refillMs = 100;
/** Time until the next look at a limit of 24 hours. */
const limitedMs = 60_000;

const Dispatch = z.object({
  organization_id: z.string(),
  broadcast_id: z.string(),
  /**
   * The last contact of the batch before. The index still has the recipients of earlier batches, so a search
   * from its start takes longer with every batch.
   */
  after: z.string().optional(),
});
type Dispatch = Readonly<z.infer<typeof Dispatch>>;

export const dispatchBroadcastJob = defineJob({
  name: "broadcast.dispatch",
  payload: Dispatch,

  async run(payload, world) {
    const next = await world.database.transaction((tx) => runBatch(tx, world, payload), { keepsPlans: true });
    const waitMs = typeof next === "object" ? undefined : waits[next];
    return waitMs === undefined ? undefined : { runAgainAt: new Date(world.now().getTime() + waitMs) };
  },

  async exhausted({ organization_id, broadcast_id }, world) {
    const broadcast = { organization_id, id: broadcast_id };
    await world.database.transaction((tx) =>
      pauseIfProcessing(tx, broadcast, { paused_reason: "internal_error", now: world.now() }),
    );
  },
});

/**
 * after: enqueue the next batch at once. wait: too little of the window is free, or other transactions have
 * locked the pending recipients. wait long: the limit of 24 hours is reached. end: no recipient is pending,
 * or the broadcast is not processing.
 */
type Next = Pick<Dispatch, "after"> | "wait" | "wait long" | "end";

const waits = {
  wait: refillMs,
  "wait long": limitedMs,
  end: undefined,
};

const recipientColumns = {
  ...allColumnsOf("broadcast_recipients"),
  is_blocked: "boolean",
  is_erased: "boolean",
  ...columnsOf("contacts", "opted_out"),
} as const;

type Recipient = RowOf<typeof recipientColumns>;

/**
 * The next batch is a job of its own: one job for all batches would run out of attempts when processes die
 * often.
 */
async function runBatch(tx: Transaction, world: World, dispatch: Dispatch): Promise<Next> {
  const next = await dispatchBatch(tx, world, dispatch);
  if (typeof next === "object") {
    await enqueueDispatch(tx, { ...dispatch, ...next });
  }
  return next;
}

/** The batches of a broadcast run one at a time. */
export async function enqueueDispatch(tx: Transaction, payload: Dispatch): Promise<void> {
  await tx.enqueue([newJob(dispatchBroadcastJob, payload, { key: payload.broadcast_id })]);
}

async function dispatchBatch(
  tx: Transaction,
  world: World,
  { organization_id: organization, broadcast_id: id, after }: Dispatch,
): Promise<Next> {
  const broadcast = await findDispatched(tx, organization, id);
  if (broadcast?.execution_status !== "processing" || broadcast.template === null) {
    return "end";
  }
  const { queued, sent, failed, template } = broadcast;
  const inbox = await getOrDefaultInbox(tx, organization, broadcast.inbox_id);
  const window = windowOf(inbox);
  const free = window - (queued - sent - failed);
  if (free < Math.min(batchSize, window / 2)) {
    return "wait";
  }
  const today = await leftToday(tx, inbox, world.now());
  if (today?.left === 0) {
    return "wait long";
  }
  // The template may have been paused, disabled, removed or changed since the execution.
  if (
    !(await isVersionSendable(tx, organization, { id: broadcast.template_id, version: template.version }))
  ) {
    await ((await hasPending(tx, broadcast))
      ? pauseIfProcessing(tx, broadcast, { paused_reason: "template_not_sendable", now: world.now() })
      : completeIfDone(tx, { organization, ids: [id], now: world.now() }));
    return "end";
  }
  const size = Math.min(batchSize, free, today?.left ?? batchSize);
  const recipients = await claimPending(tx, broadcast, { size, after });
  if (recipients.length > 0) {
    const pause = await sendBatch(tx, world, {
      broadcast,
      inbox,
      recipients,
      template: { organization_id: organization, id: broadcast.template_id, ...template },
    });
    if (pause) {
      await pauseIfProcessing(tx, broadcast, { ...pause, now: world.now() });
      return "end";
    }
  }
  if (recipients.length === size) {
    return { after: recipients.at(-1)?.contact_id };
  }
  if (after !== undefined) {
    // Recipients before it may be pending: they were locked, or are to be retried.
    return { after: undefined };
  }
  // Another transaction has locked the recipients that are still pending.
  if (await hasPending(tx, broadcast)) {
    return "wait";
  }
  await completeIfDone(tx, { organization, ids: [id], now: world.now() });
  return "end";
}

/** If the inbox has a rate, no more messages are queued than it sends in a few seconds. */
function windowOf({ settings }: { readonly settings: Record<string, unknown> }): number {
  const { messages_per_second: rate } = InboxSettings.parse(settings);
  return rate === undefined ? maxWindow : Math.min(maxWindow, Math.max(minWindow, windowSeconds * rate));
}

async function hasPending(tx: Transaction, { organization_id, id }: BroadcastRow): Promise<boolean> {
  const row = await ofOrganization(tx, organization_id)
    .selectFrom("broadcast_recipients")
    .select("contact_id")
    .where("broadcast_id", "=", id)
    .where("status", "=", "pending")
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Locks pending recipients and their contacts, so that an erasure waits, and then finds what was written for
 * the contact. Recipients whose contact another transaction has locked are left to a later batch: an erasure
 * that has locked the contact waits for the recipient.
 */
async function claimPending(
  tx: Transaction,
  { organization_id, id }: BroadcastRow,
  { size, after = "" }: { readonly size: number; readonly after: string | undefined },
): Promise<readonly Recipient[]> {
  const { rows } = await rowsOf(recipientColumns)`
    select recipient.*, contact.*
    from (
      select * from broadcast_recipients
      where organization_id = ${organization_id} and broadcast_id = ${id} and status = 'pending'
        and contact_id > ${after}
      order by contact_id limit ${size}
      for update skip locked
    ) as recipient
    cross join lateral (
      select blocked_at is not null as is_blocked, erased_at is not null as is_erased, opted_out from contacts
      where organization_id = ${organization_id} and id = recipient.contact_id
      ${byWholeKey}
      for key share skip locked
    ) as contact
    order by contact_id
  `.execute(tx);
  return rows;
}

interface Pause {
  readonly paused_reason: PausedReason;
  readonly paused_budget?: string;
  readonly now: Date;
}

/** The caller has not locked the broadcast, which may have been paused or cancelled meanwhile. */
async function pauseIfProcessing(
  tx: Transaction,
  { organization_id, id }: Pick<BroadcastRow, "organization_id" | "id">,
  pause: Pause,
): Promise<void> {
  const broadcast = await getBroadcast(tx, organization_id, id, { forUpdate: true });
  if (broadcast.execution_status === "processing") {
    await changeBroadcast(tx, broadcast, { execution_status: "paused", ...pause });
  }
}

interface Batch extends MessagesToCompose<Recipient> {
  readonly broadcast: DispatchedBroadcast;
  readonly inbox: BulkMessages["inbox"] & { readonly channel: string };
}

/** Returns why recipients of the batch stay pending; undefined if none do. */
async function sendBatch(
  tx: Transaction,
  world: World,
  batch: Batch,
): Promise<Omit<Pause, "now"> | undefined> {
  const { broadcast, inbox, template } = batch;
  const { organization_id: organization, id: broadcast_id, currency, simulated } = broadcast;
  const now = world.now();
  const composed = await composeMessages(tx, world, batch);
  if (!composed) {
    return { paused_reason: "file_missing" };
  }
  await excludeRecipients(
    { tx, now, broadcast },
    composed.flatMap(({ recipient, reason }) => (reason ? [{ ...recipient, reason }] : [])),
  );
  const sendable = composed.flatMap(({ recipient: { contact_id, to, price, country }, content }) => {
    const { category } = template.version;
    const charge: MessageCharge | null =
      price === null || currency === null
        ? null
        : { status: "held", currency, country, category, price, held: price, simulated };
    return content && to !== null ? [{ contact_id, to, template: content, charge }] : [];
  });
  const counted = { inbox_id: inbox.id, messages: sendable };
  const { allowed: messages, reached } = await countMessages({ tx, now, broadcast }, counted);
  const sent_by = { type: "system", id: broadcast_id, name: broadcast.name } as const;
  const ids = await enqueueBulkMessages(
    { tx, world, now },
    { organization, broadcast_id, inbox, sent_by, messages },
  );
  await markQueued(tx, broadcast, ids);
  await completeIfDone(tx, { organization, ids: [broadcast_id], now });
  return (
    reached && {
      paused_reason: "budget_reached",
      paused_budget: JSON.stringify(ReachedBudget.parse(reached)),
    }
  );
}

async function markQueued(
  tx: Transaction,
  { organization_id, id }: BroadcastRow,
  messages: ReadonlyMap<string, string>,
): Promise<void> {
  const rows = [...messages].map(([contact_id, message_id]) => ({ contact_id, message_id }));
  await sql`
    with marked as (
      update broadcast_recipients set status = 'queued', message_id = message.message_id
      from ${recordset("message", columnsOf("broadcast_recipients", "contact_id", "message_id"), rows)}
      where organization_id = ${organization_id} and broadcast_id = ${id}
        and ${matchesKey("broadcast_recipients.contact_id", "message.contact_id", [...messages.keys()])}
    )
    update broadcasts set queued = queued + ${rows.length} where organization_id = ${organization_id} and id = ${id}
  `.execute(tx);
}
