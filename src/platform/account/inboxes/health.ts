/**
 * Whether an inbox can send. While it is stopped, its messages wait, and some of them are tried again after a
 * while.
 *
 * All messages of a stop wait until the same time, `retry_at`. When the stop ends, this time distinguishes
 * them from messages that wait for another reason, such as a delay that the channel demanded for one message.
 */

import type { Selectable } from "kysely";
import { z } from "zod";
import { ofOrganization } from "../../../database/query/index.ts";
import type { InboxHealth, SealedText, Tables } from "../../../database/schema/index.ts";
import { newJob } from "../../../jobs/job.ts";
import type { ChannelFailure } from "../../../ports/channel/channel.ts";
import type { Log } from "../../../ports/telemetry/log.ts";
import { defineJob, type Transaction, type World } from "../../foundation/kernel/index.ts";
import { findAccount, type InboxName, lockInbox } from "./accounts.ts";
import { laneOf } from "./find.ts";

/** Time until the next attempt of an inbox that can't send. */
const retryMs = 5 * 60_000;
/**
 * The longest time from the claim of a message that reads the stop until its job waits: one poll, on a busy
 * machine.
 */
const rescheduledMs = 5_000;

/** Records why an inbox can't send; null: it can send again. */
export async function recordHealth(
  world: World,
  name: InboxName,
  failure: ChannelFailure | null,
): Promise<void> {
  await world.database.transaction((tx) => changeHealth({ tx, world }, name, failure));
}

interface SendFailure {
  readonly failure: ChannelFailure;
  /** The stored secrets of the account that can't send; null if the inbox had no account. */
  readonly secrets: SealedText | null;
}

/**
 * Records that an inbox can't send; returns when to try again. If the inbox has another account by now,
 * nothing is recorded, and the message may be tried again at once.
 */
export async function recordSendFailure(
  world: World,
  name: InboxName,
  { failure, secrets }: SendFailure,
): Promise<Date> {
  return world.database.transaction(async (tx) => {
    await lockInbox(tx, name);
    const account = await findAccount(tx, name);
    // Another account has other secrets, or the same secrets sealed anew.
    return (account?.secrets ?? null) === secrets ? changeHealth({ tx, world }, name, failure) : world.now();
  });
}

/**
 * Like `recordHealth`; returns when to try again. The inbox is locked, so that if a change is reported
 * several times, only the first report emits the event.
 */
export async function changeHealth(
  { tx, world }: { readonly tx: Transaction; readonly world: World },
  { organization_id, inbox_id }: InboxName,
  failure: ChannelFailure | null,
): Promise<Date> {
  const inbox = await lockInbox(tx, { organization_id, inbox_id });
  const before = inbox?.health ?? null;
  const now = world.now();
  if (!inbox || (before === null && failure === null)) {
    return now;
  }
  const since = before && before.status !== "unreachable" ? before.since : now.toISOString();
  const retryAt = pausedUntil(before, now) ?? new Date(now.getTime() + retryMs);
  const health = failure && { ...failure, since, retry_at: retryAt.toISOString() };
  await storeHealth({ tx, world }, { organization_id, inbox_id }, { before, after: health });
  if (before && health === null) {
    await resumeMessages({ tx, world }, { organization_id, inbox_id, waiting_until: before.retry_at });
  }
  return retryAt;
}

/**
 * Records that the channel of an inbox does not answer, unless the inbox can't send for another reason.
 * Messages of the inbox do not wait for each other, because the channel may answer the next one.
 */
export async function recordUnreachable(
  world: World,
  name: InboxName,
  failure: ChannelFailure,
): Promise<void> {
  await world.database.transaction(async (tx) => {
    const inbox = await lockInbox(tx, name);
    if (inbox?.health === null) {
      const at = world.now().toISOString();
      const after = { ...failure, status: "unreachable" as const, since: at, retry_at: at };
      await storeHealth({ tx, world }, name, { before: null, after });
    }
  });
}

interface HealthChange {
  readonly before: InboxHealth | null;
  readonly after: InboxHealth | null;
}

/** Stores the health. A change of the status is reported by an event and in the log. */
async function storeHealth(
  { tx, world }: { readonly tx: Transaction; readonly world: World },
  { organization_id, inbox_id }: InboxName,
  { before, after }: HealthChange,
): Promise<void> {
  await ofOrganization(tx, organization_id)
    .updateTable("inboxes")
    .set({ health: after && JSON.stringify(after) })
    .where("id", "=", inbox_id)
    .execute();
  const { since: _, ...data } = serializeHealth({ health: after });
  if (data.status === serializeHealth({ health: before }).status) {
    return;
  }
  tx.emit({
    type: "inbox.health",
    organization_id,
    order: inbox_id,
    data: { inbox_id, ...data },
  });
  const { status, code, reason } = data;
  tx.afterCommit(() => logStatus[status](world.log, { organization_id, inbox_id, code, reason }));
}

type Status = ReturnType<typeof serializeHealth>["status"];

const logStatus: Readonly<Record<Status, (log: Log, details: object) => void>> = {
  ok: (log, details) => log.info(details, "An inbox can send again"),
  stopped: (log, details) => log.error(details, "An inbox can't send any more"),
  unreachable: (log, details) => log.error(details, "The channel of an inbox can't be reached"),
};

const ResumePayload = z.object({
  organization_id: z.string(),
  inbox_id: z.string(),
  waiting_until: z.string(),
});
type ResumePayload = z.infer<typeof ResumePayload>;

/** Makes messages due that read the stop before it ended but began to wait afterwards. */
export const resumeInboxJob = defineJob({
  name: "inbox.resume",
  payload: ResumePayload,

  async run({ inbox_id, waiting_until }, world) {
    await world.database.transaction((tx) =>
      world.jobs.resume(tx, laneOf(inbox_id), new Date(waiting_until)),
    );
    return undefined;
  },
});

async function resumeMessages(
  { tx, world }: { readonly tx: Transaction; readonly world: World },
  waiting: ResumePayload,
): Promise<void> {
  const runAt = new Date(world.now().getTime() + rescheduledMs);
  await world.jobs.resume(tx, laneOf(waiting.inbox_id), new Date(waiting.waiting_until));
  await tx.enqueue([newJob(resumeInboxJob, waiting, { runAt })]);
}

/** The time until which the inbox's messages wait; undefined if they do not wait. */
export function pausedUntil(health: InboxHealth | null, now: Date): Date | undefined {
  const until = health && new Date(health.retry_at);
  return until && until > now ? until : undefined;
}

export function serializeHealth({ health }: Pick<Selectable<Tables["inboxes"]>, "health">) {
  return health === null
    ? { status: "ok" as const, code: null, reason: null, since: null }
    : {
        status: health.status ?? ("stopped" as const),
        code: health.channel_code,
        reason: [health.title, health.detail].filter(Boolean).join(": "),
        since: health.since,
      };
}

/** Warnings for a message that is sent from the inbox. */
export function warnOfHealth(health: InboxHealth | null): readonly ("inbox_stopped" | "inbox_unreachable")[] {
  const { status } = serializeHealth({ health });
  return status === "ok" ? [] : [`inbox_${status}`];
}
