/**
 * Reading as a subscription: list_events and the stream of events record which events on demand they were
 * called for, and from then on these are recorded. A trigger adds them to `listened_events`.
 */
import { isEventOnDemand } from "../../../../../tools/events.ts";
import { ofOrganization } from "../../../../database/query/index.ts";
import type { World } from "../../../foundation/kernel/index.ts";

/** How long events are recorded after the last call that named them. */
export const polledDays = 7;
/** A later call writes the time again. */
const freshMs = 24 * 3_600_000;

/** To be called before the events are read: what is emitted after the cursor of the response is recorded. */
export async function recordPolled(
  { database }: World,
  organization: string,
  { types, now }: { readonly types: readonly string[]; readonly now: Date },
): Promise<void> {
  const wanted = types.filter(isEventOnDemand);
  if (wanted.length === 0) {
    return;
  }
  const fresh = await ofOrganization(database.queries, organization)
    .selectFrom("polled_events")
    .select("type")
    .where("polled_at", ">", new Date(now.getTime() - freshMs).toISOString())
    .execute();
  const known = new Set(fresh.map(({ type }) => type));
  const polled_at = now.toISOString();
  // In one order, so that two calls do not deadlock.
  const rows = wanted
    .filter((type) => !known.has(type))
    .sort()
    .map((type) => ({ organization_id: organization, type, polled_at }));
  if (rows.length > 0) {
    await database.queries
      .insertInto("polled_events")
      .values(rows)
      .onConflict((conflict) => conflict.columns(["organization_id", "type"]).doUpdateSet({ polled_at }))
      .execute();
  }
}
