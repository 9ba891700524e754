/**
 * How many messages one person gets from a number of a real channel: one in 6 seconds, and 45 at once, which use up what
 * comes next.
 *
 * Each claimed message stores when the quota of its conversation's person is complete again, and the latest of these times
 * is all that the next claim needs. The messages of a conversation are claimed one after the other. Only messages of
 * broadcasts are not: two processes that claim some for the same person at the same moment may exceed the quota, and the
 * channel refuses those.
 */
import { type RawBuilder, sql } from "kysely";
import { lowestId } from "../../../database/id.ts";

const intervalMs = 6_000;
const burst = 45;

export type Place =
  /** The message may be sent; the quota is complete again at this time. */
  | { readonly fullAt: number }
  /** There is no place before this time. */
  | { readonly waitUntil: number };

/** Times are in ms; `fullAt` is of the message before, or of any time in the past. */
export function takePlace(fullAt: number, at: number): Place {
  // A later time is that of a wrong clock.
  const full = Math.max(Math.min(fullAt, at + burst * intervalMs), at);
  const waitUntil = full - (burst - 1) * intervalMs;
  return waitUntil > at ? { waitUntil } : { fullAt: full + intervalMs };
}

export type Quotas = ReturnType<typeof createQuotas>;

/** Takes places for the messages of one claim, several of which may be to one person. */
export function createQuotas(at: number) {
  const full = new Map<string, number>();
  return {
    take(conversation_id: string, storedFullAt: string | null): Place {
      const fullAt = full.get(conversation_id) ?? (storedFullAt === null ? at : Date.parse(storedFullAt));
      const place = takePlace(fullAt, at);
      if ("fullAt" in place) {
        full.set(conversation_id, place.fullAt);
      }
      return place;
    },
  };
}

/**
 * When the quota of the person of `message`, sent from `account`, is complete again. A message waits for at most a day, so
 * that those which can still count have recent ids. The newest ones suffice, because the others were claimed before them.
 */
export function selectFullAt(now: Date, maxWaitMs: number): RawBuilder<{ person_full_at: string | null }> {
  const oldest = lowestId("msg", new Date(now.getTime() - maxWaitMs - burst * intervalMs));
  return sql`
    select max(quota_full_at) as person_full_at
    from (
      select quota_full_at from messages as earlier
      -- Inside, so that nothing is read for the simulated channel, which has no accounts and no quotas.
      where account.phone_number_id is not null
        and earlier.organization_id = message.organization_id and earlier.conversation_id = message.conversation_id
        and earlier.id >= ${oldest} and earlier.quota_full_at is not null
      order by earlier.id desc limit ${burst}
    ) as newest
  `;
}
