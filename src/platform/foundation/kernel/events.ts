/** Finds out whether an organization has anything that reacts to an event. */
import { type RawBuilder, sql } from "kysely";
import type { EventNameOnDemand } from "../../../../tools/events.ts";

/**
 * Whether the organization has anything that reacts to one of these events. The condition is a part of the
 * statement that makes the change, so that an event without effect costs no statement.
 */
export function isListenedTo(
  organization_id: RawBuilder<unknown>,
  types: readonly EventNameOnDemand[],
): RawBuilder<boolean> {
  return sql<boolean>`exists (
    select from listened_events where listened_events.organization_id = ${organization_id}
      and listened_events.type in (${sql.join(types.map((type) => sql.lit(type)))})
  )`;
}
