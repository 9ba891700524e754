/** Which events something of an organization reacts to. */
import { type RawBuilder, sql } from "kysely";
import type { InternalEventName } from "../../../../tools/events.ts";

/**
 * Whether something of the organization reacts to one of these events: a part of the statement that makes the change, so
 * that an event that nothing reacts to costs no statement.
 */
export function isListenedTo(
  organization_id: RawBuilder<unknown>,
  types: readonly InternalEventName[],
): RawBuilder<boolean> {
  return sql<boolean>`exists (
    select from listened_events where listened_events.organization_id = ${organization_id}
      and listened_events.type in (${sql.join(types.map((type) => sql.lit(type)))})
  )`;
}
