/**
 * Whether an inbox can send. While it can't, its messages wait, and some of them try again after a while.
 *
 * All messages of a stop wait until the same time, `retry_at`. When the stop ends, this time tells them from messages that
 * wait for another reason, such as a time that the channel demanded for one message.
 */
import type { Selectable } from "kysely";
import { z } from "zod";
import { afterCommit, type Transaction } from "../../database/database.ts";
import type { InboxHealth, Sealed, Tables } from "../../database/schema/index.ts";
import type { ChannelFailure } from "../../ports/channel.ts";
import { defineJob, emit, type World } from "../kernel/index.ts";
import { findAccount, type InboxName, lockInbox } from "./accounts.ts";
import { laneOf } from "./find.ts";

/** Until the next attempt of an inbox that can't send. */
const retryMs = 5 * 60_000;
/** From the claim of a message that reads the stop until its job waits: one poll, on a busy machine. */
const rescheduledMs = 5_000;

/** Records that an inbox can't send, and why; null: that it can again. */
export async function recordHealth(
  world: World,
  name: InboxName,
  failure: ChannelFailure | null,
): Promise<void> {
  await world.database.transaction((tx) => changeHealth({ tx, world }, name, failure));
}

interface SendFailure {
  readonly failure: ChannelFailure;
  /** The secrets of the account that can't send, as they were stored; null if the inbox had none. */
  readonly secrets: Sealed | null;
}

/**
 * Records that an inbox can't send; returns when to try again. If the inbox has another account by now, nothing is
 * recorded, and the message may be tried again at once.
 */
export async function recordSendFailure(
  world: World,
  name: InboxName,
  { failure, secrets }: SendFailure,
): Promise<Date> {
  return world.database.transaction(async (tx) => {
    await lockInbox(tx, name);
    const account = await findAccount(tx, name);
    // Another account has other secrets, sealed anew.
    return (account?.secrets ?? null) === secrets ? changeHealth({ tx, world }, name, failure) : world.now();
  });
}

/**
 * As `recordHealth`; returns when to try again. The inbox is locked, so that of several reports of one change the first
 * emits the event.
 */
export async function changeHealth(
  { tx, world }: { readonly tx: Transaction; readonly world: World },
  { organization_id, inbox_id }: InboxName,
  failure: ChannelFailure | null,
): Promise<Date> {
  const inbox = await lockInbox(tx, { organization_id, inbox_id });
  const before = inbox?.health ?? null;
  if (!inbox || (before === null && failure === null)) {
    return world.now();
  }
  const since = before?.since ?? world.now().toISOString();
  const retryAt = pausedUntil(before, world.now()) ?? new Date(world.now().getTime() + retryMs);
  const health = failure && { ...failure, since, retry_at: retryAt.toISOString() };
  await tx
    .updateTable("inboxes")
    .set({ health: health && JSON.stringify(health) })
    .where("organization_id", "=", organization_id)
    .where("id", "=", inbox_id)
    .execute();
  if (before && health === null) {
    await resumeMessages({ tx, world }, { organization_id, inbox_id, waiting_until: before.retry_at });
  }
  if (before === null || health === null) {
    const { since: _, ...data } = serializeHealth({ health });
    const order = inbox_id;
    emit(tx, world, { type: "inbox.health", organization_id, order, data: { inbox_id, ...data } });
  }
  if (failure && before === null) {
    const { channel_code: code, title } = failure;
    const log = () =>
      world.log.error({ organization_id, inbox_id, code, title }, "An inbox can't send any more");
    afterCommit(tx, log);
  }
  return retryAt;
}

const Waiting = z.object({ organization_id: z.string(), inbox_id: z.string(), waiting_until: z.string() });
type Waiting = z.infer<typeof Waiting>;

/** Makes those messages due that read the stop before it ended, but began to wait after that. */
export const resumeJob = defineJob({
  name: "inbox.resume",
  payload: Waiting,

  async run({ inbox_id, waiting_until }, world) {
    await world.database.transaction((tx) =>
      world.jobs.resume(tx, laneOf(inbox_id), new Date(waiting_until)),
    );
    return undefined;
  },
});

async function resumeMessages(
  { tx, world }: { readonly tx: Transaction; readonly world: World },
  waiting: Waiting,
): Promise<void> {
  const runAt = new Date(world.now().getTime() + rescheduledMs);
  await world.jobs.resume(tx, laneOf(waiting.inbox_id), new Date(waiting.waiting_until));
  await world.jobs.enqueue(tx, resumeJob, waiting, { runAt });
}

/** Until when the inbox's messages wait; undefined if they need not. */
export function pausedUntil(health: InboxHealth | null, now: Date): Date | undefined {
  const until = health && new Date(health.retry_at);
  return until && until > now ? until : undefined;
}

export function serializeHealth({ health }: Pick<Selectable<Tables["inboxes"]>, "health">) {
  return health === null
    ? { status: "ok" as const, code: null, reason: null, since: null }
    : {
        status: "stopped" as const,
        code: health.channel_code,
        reason: [health.title, health.detail].filter(Boolean).join(": "),
        since: health.since,
      };
}
