/** Warns of teams that get conversations and have no agent for them. */

import type { Queries } from "../../../database/database.ts";
import { columnsOf, rowsOf } from "../../../database/query/index.ts";
import type { Problem } from "../../foundation/problems.ts";
import { availableAt } from "./availability.ts";

/** A place that names a team. */
export interface TeamReference {
  readonly field: string;
  readonly id: string;
}

/** Of the teams that are not active, or have no available member. */
export async function findIdleTeams(
  db: Queries,
  organization: string,
  { references, now }: { readonly references: readonly TeamReference[]; readonly now: Date },
): Promise<readonly Problem[]> {
  if (references.length === 0) {
    return [];
  }
  const { rows } = await rowsOf({
    ...columnsOf("teams", "id", "name", "is_active"),
    has_members: "boolean",
  })`
    select id, name, is_active, exists (
      select from team_members
      join users on users.organization_id = team_members.organization_id and users.id = team_members.user_id
      where team_members.organization_id = teams.organization_id and team_id = teams.id
        and users.is_active and ${availableAt(now)}
    ) as has_members
    from teams
    where organization_id = ${organization} and id = any(${references.map(({ id }) => id)}::text[])
  `.execute(db);
  return references.flatMap(({ id, field }) => {
    const { name, is_active = true, has_members = true } = rows.find((row) => row.id === id) ?? {};
    const inactive = {
      field,
      code: "team_inactive",
      message: `The team ${name} is not active, so its conversations wait: no agent of it is chosen.`,
      fix: "Ask whether the team should be active before you change it with update_team.",
    };
    const empty = {
      field,
      code: "team_without_members",
      message: `The team ${name} has no available member, so its conversations wait.`,
      fix: "Ask who should be in the team before you add members with add_team_member.",
    };
    return [...(is_active ? [] : [inactive]), ...(has_members ? [] : [empty])];
  });
}
