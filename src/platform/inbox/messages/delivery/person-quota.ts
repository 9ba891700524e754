/**
 * How many messages one person gets from an inbox, on a channel with such a rate: one in an interval, and a
 * burst at once, which uses up the intervals that follow.
 *
 * Each claimed message stores when the quota of its conversation's person is unused again, and the latest of
 * these times is all that the next claim needs. The messages of a conversation are claimed one after the
 * other. Only messages of broadcasts are not: two processes that claim some for the same person at the same
 * moment may exceed the quota, and the channel rejects the surplus.
 */
import { type RawBuilder, sql } from "kysely";
import { lowestId } from "../../../../database/id.ts";
import type { PersonRate } from "../../../../ports/channel/capabilities.ts";
import type { World } from "../../../foundation/kernel/index.ts";

export type QuotaPlace =
  /** The message may be sent; the quota is unused again at this time. */
  | { readonly quotaRestoredAt: number }
  /** There is no place before this time. */
  | { readonly waitUntil: number };

interface QuotaState {
  /** The time that the message before stored, or any time in the past; in ms, as `at`. */
  readonly restoredAt: number;
  readonly at: number;
}

export function takePlace({ burst, intervalMs }: PersonRate, { restoredAt, at }: QuotaState): QuotaPlace {
  // A process with a wrong clock may have stored a later time than is possible.
  const before = Math.max(Math.min(restoredAt, at + burst * intervalMs), at);
  const waitUntil = before - (burst - 1) * intervalMs;
  return waitUntil > at ? { waitUntil } : { quotaRestoredAt: before + intervalMs };
}

export type PersonQuotas = ReturnType<typeof createQuotas>;

/** Takes places for the messages of one claim; several messages may be to one person. */
export function createQuotas(at: number) {
  const restoredAtByConversation = new Map<string, number>();
  return {
    take(
      rate: PersonRate,
      {
        conversation_id,
        person_full_at: storedAt,
      }: { readonly conversation_id: string; readonly person_full_at: string | null },
    ): QuotaPlace {
      const stored = storedAt === null ? at : Date.parse(storedAt);
      const restoredAt = restoredAtByConversation.get(conversation_id) ?? stored;
      const place = takePlace(rate, { restoredAt, at });
      if ("quotaRestoredAt" in place) {
        restoredAtByConversation.set(conversation_id, place.quotaRestoredAt);
      }
      return place;
    },
  };
}

/** Undefined for a channel whose messages to one person have no rate. */
export function personRateOf({ channels }: Pick<World, "channels">, name: string): PersonRate | undefined {
  return channels[name]?.capabilities.rate.perPerson ?? undefined;
}

/**
 * When the quota of the person of `message`, sent from `inbox`, is unused again. A message waits for at
 * most a day, so that messages which can still count have recent ids. The newest messages suffice, because
 * older messages were claimed before them.
 */
export function selectQuotaRestoredAt(
  { channels }: Pick<World, "channels">,
  { now, maxWaitMs }: { readonly now: Date; readonly maxWaitMs: number },
): RawBuilder<{ person_full_at: string | null }> {
  const limited = Object.entries(channels).flatMap(([name, { capabilities }]) => {
    const rate = capabilities.rate.perPerson;
    return rate === null ? [] : [{ name, ...rate }];
  });
  const names = limited.map(({ name }) => name);
  const burst = Math.max(1, ...limited.map((rate) => rate.burst));
  const usedMs = Math.max(0, ...limited.map((rate) => rate.burst * rate.intervalMs));
  const oldest = lowestId("msg", new Date(now.getTime() - maxWaitMs - usedMs));
  return sql`
    select max(quota_full_at) as person_full_at
    from (
      select quota_full_at from messages as earlier
      -- Inside, so that nothing is read for a channel without quotas.
      where inbox.channel = any(${names}::text[])
        and earlier.organization_id = message.organization_id and earlier.conversation_id = message.conversation_id
        and earlier.id >= ${oldest} and earlier.quota_full_at is not null
      order by earlier.id desc limit ${burst}
    ) as newest
  `;
}
