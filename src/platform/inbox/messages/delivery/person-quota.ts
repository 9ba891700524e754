/**
 * How many messages one person gets from a number of a real channel: one in 6 seconds, and 45 at once, which
 * use up what comes next.
 *
 * Each claimed message stores when the quota of its conversation's person is unused again, and the latest of
 * these times is all that the next claim needs. The messages of a conversation are claimed one after the
 * other. Only messages of broadcasts are not: two processes that claim some for the same person at the same
 * moment may exceed the quota, and the channel refuses those.
 */
import { type RawBuilder, sql } from "kysely";
import { lowestId } from "../../../../database/id.ts";

const intervalMs = 6_000;
const burst = 45;

export type Place =
  /** The message may be sent; the quota is unused again at this time. */
  | { readonly quotaRestoredAt: number }
  /** There is no place before this time. */
  | { readonly waitUntil: number };

/** Times are in ms. `restoredAt` is the time that the message before stored, or any time in the past. */
export function takePlace(restoredAt: number, at: number): Place {
  // A process with a wrong clock may have stored a later time than is possible.
  const before = Math.max(Math.min(restoredAt, at + burst * intervalMs), at);
  const waitUntil = before - (burst - 1) * intervalMs;
  return waitUntil > at ? { waitUntil } : { quotaRestoredAt: before + intervalMs };
}

export type Quotas = ReturnType<typeof createQuotas>;

/** Takes places for the messages of one claim, several of which may be to one person. */
export function createQuotas(at: number) {
  const restoredAtByConversation = new Map<string, number>();
  return {
    take(conversation_id: string, storedAt: string | null): Place {
      const stored = storedAt === null ? at : Date.parse(storedAt);
      const place = takePlace(restoredAtByConversation.get(conversation_id) ?? stored, at);
      if ("quotaRestoredAt" in place) {
        restoredAtByConversation.set(conversation_id, place.quotaRestoredAt);
      }
      return place;
    },
  };
}

/**
 * When the quota of the person of `message`, sent from `account`, is unused again. A message waits for at
 * most a day, so that those which can still count have recent ids. The newest ones suffice, because the
 * others were claimed before them.
 */
export function selectQuotaRestoredAt(
  now: Date,
  maxWaitMs: number,
): RawBuilder<{ person_full_at: string | null }> {
  const oldest = lowestId("msg", new Date(now.getTime() - maxWaitMs - burst * intervalMs));
  return sql`
    select max(quota_full_at) as person_full_at
    from (
      select quota_full_at from messages as earlier
      -- Inside, so that nothing is read for the simulated channel, which has no accounts and no quotas.
      where account.inbox_id is not null
        and earlier.organization_id = message.organization_id and earlier.conversation_id = message.conversation_id
        and earlier.id >= ${oldest} and earlier.quota_full_at is not null
      order by earlier.id desc limit ${burst}
    ) as newest
  `;
}
