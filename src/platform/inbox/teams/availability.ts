/** When a member takes no new conversations: while switched off, and in the time in which the member is away. */

import { type RawBuilder, type Selectable, sql } from "kysely";
import type { Tables } from "../../../database/schema/index.ts";

export type Availability = Pick<
  Selectable<Tables["team_members"]>,
  "is_available" | "unavailable_from" | "unavailable_until"
>;

export function isAvailableAt(
  { is_available, unavailable_from: from, unavailable_until: until }: Availability,
  now: Date,
): boolean {
  const hasTime = from !== null || until !== null;
  const hasBegun = from === null || Date.parse(from) <= now.getTime();
  const hasEnded = until !== null && Date.parse(until) <= now.getTime();
  return is_available && !(hasTime && hasBegun && !hasEnded);
}

/** The same as a condition on `team_members`. */
export function availableAt(now: Date): RawBuilder<boolean> {
  return sql<boolean>`(team_members.is_available and not ${awayAt(now)})`;
}

/** Since when the row of `team_members` is not available; null if it is. */
export function unavailableSince(now: Date): RawBuilder<string | null> {
  return sql`(case when not team_members.is_available then team_members.unavailable_since
    when ${awayAt(now)} then coalesce(team_members.unavailable_from, team_members.updated_at) end)`;
}

function awayAt(now: Date): RawBuilder<boolean> {
  const at = sql`${now.toISOString()}::timestamptz`;
  return sql`(
    (team_members.unavailable_from is not null or team_members.unavailable_until is not null)
    and coalesce(team_members.unavailable_from <= ${at}, true) and coalesce(team_members.unavailable_until > ${at}, true)
  )`;
}
