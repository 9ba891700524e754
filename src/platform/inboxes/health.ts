/** Whether an inbox can send. While it can't, its messages wait, and one of them tries again after a while. */
import type { Selectable } from "kysely";
import { afterCommit, type Transaction } from "../../database/database.ts";
import type { InboxHealth, Tables } from "../../database/schema/index.ts";
import type { ChannelFailure } from "../../ports/channel.ts";
import { emit, type World } from "../kernel/index.ts";
import type { InboxName } from "./accounts.ts";
import { laneOf } from "./find.ts";

/** Until the next attempt of an inbox that can't send. */
const retryMs = 5 * 60_000;

/** Records that an inbox can't send, and why; null: that it can again. Returns when to try again. */
export async function recordHealth(
  world: World,
  name: InboxName,
  failure: ChannelFailure | null,
): Promise<Date> {
  return world.database.transaction((tx) => changeHealth({ tx, world }, name, failure));
}

/** As `recordHealth`. The inbox is locked, so that of several reports of one change the first emits the event. */
export async function changeHealth(
  { tx, world }: { readonly tx: Transaction; readonly world: World },
  { organization_id, inbox_id }: InboxName,
  failure: ChannelFailure | null,
): Promise<Date> {
  const inbox = await tx
    .selectFrom("inboxes")
    .select("health")
    .where("organization_id", "=", organization_id)
    .where("id", "=", inbox_id)
    .forNoKeyUpdate()
    .executeTakeFirst();
  const before = inbox?.health ?? null;
  if (!inbox || (before === null && failure === null)) {
    return world.now();
  }
  const since = before?.since ?? world.now().toISOString();
  const retryAt = new Date(world.now().getTime() + retryMs);
  const health = failure && { ...failure, since, retry_at: retryAt.toISOString() };
  await tx
    .updateTable("inboxes")
    .set({ health: health && JSON.stringify(health) })
    .where("organization_id", "=", organization_id)
    .where("id", "=", inbox_id)
    .execute();
  if (before && health === null) {
    await world.jobs.resume(tx, laneOf(inbox_id), new Date(before.retry_at));
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
