/** When a member takes no new conversations: while switched off, and in the time in which the member is away. */

import { type RawBuilder, type Selectable, sql } from "kysely";
import type { Queries } from "../../../database/database.ts";
import { columnsOf, rowsOf } from "../../../database/query/index.ts";
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

export interface AbsentAgent {
  readonly organization_id: string;
  readonly team_id: string;
  readonly user_id: string;
  /** Since when the member takes no conversations, or the user is switched off. */
  readonly since: string;
}

/** The members of all organizations who are absent and still have conversations. */
export async function findAbsentAgents(db: Queries, now: Date): Promise<readonly AbsentAgent[]> {
  const { rows } = await rowsOf({
    ...columnsOf("team_members", "organization_id", "team_id", "user_id"),
    since: "timestamptz",
  })`
    select team_members.organization_id, team_id, user_id, case
        when not is_available then coalesce(unavailable_since, users.updated_at)
        when ${awayAt(now)} then coalesce(unavailable_from, team_members.updated_at)
        else users.updated_at
      end as since
    from team_members
    join users on users.organization_id = team_members.organization_id and users.id = team_members.user_id
    where current_chat_count > 0 and (not ${availableAt(now)} or not users.is_active)
  `.execute(db);
  return rows;
}

function awayAt(now: Date): RawBuilder<boolean> {
  const at = sql`${now.toISOString()}::timestamptz`;
  return sql`(
    (team_members.unavailable_from is not null or team_members.unavailable_until is not null)
    and coalesce(team_members.unavailable_from <= ${at}, true) and coalesce(team_members.unavailable_until > ${at}, true)
  )`;
}
