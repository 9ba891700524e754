/** Whether an inbox can send. While it can't, its messages wait, and one of them tries again after a while. */
import type { Selectable } from "kysely";
import type { InboxHealth, Tables } from "../../database/schema/index.ts";
import type { ChannelFailure } from "../../ports/channel.ts";
import type { World } from "../kernel/index.ts";
import type { InboxName } from "./accounts.ts";

/** Until the next attempt of an inbox that can't send. */
const retryMs = 5 * 60_000;

/** Records that an inbox can't send, and why; null: that it can again. Returns when to try again. */
export async function recordHealth(
  world: World,
  { organization_id, inbox_id }: InboxName,
  failure: ChannelFailure | null,
): Promise<Date> {
  const inbox = world.database.queries
    .selectFrom("inboxes")
    .select("health")
    .where("organization_id", "=", organization_id)
    .where("id", "=", inbox_id);
  const before = (await inbox.executeTakeFirst())?.health ?? null;
  if (before === null && failure === null) {
    return world.now();
  }
  const since = before?.since ?? world.now().toISOString();
  const retryAt = new Date(world.now().getTime() + retryMs);
  const retry_at = retryAt.toISOString();
  await world.database.queries
    .updateTable("inboxes")
    .set({ health: failure && JSON.stringify({ ...failure, since, retry_at }) })
    .where("organization_id", "=", organization_id)
    .where("id", "=", inbox_id)
    .execute();
  if (failure && before === null) {
    const { channel_code: code, title } = failure;
    world.log.error({ organization_id, inbox_id, code, title }, "An inbox can't send any more");
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
