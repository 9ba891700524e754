/** The load of agents: which conversations count, and the change of the members' counts. */
import { sql } from "kysely";
import type { ConversationStatus } from "../../../../tools/conversations.ts";
import { columnsOf, recordset } from "../../../database/query/index.ts";

/** Whether a conversation of this status counts as load of its agent. */
export function countsAsLoad(status: ConversationStatus): boolean {
  return status === "open" || status === "pending";
}

/** A change to a member's count. */
export interface LoadChange {
  readonly organization_id: string;
  readonly team_id: string;
  readonly user_id: string;
  readonly delta: number;
  /** The member's new position in the round robin. */
  readonly turn?: number | undefined;
}

const changeColumns = {
  ...columnsOf("team_members", "organization_id", "team_id", "user_id"),
  delta: "integer",
  turn: "bigint",
} as const;

/**
 * The statement that applies the changes, for a CTE of the change that causes them. An agent who has left the team
 * has no row to count in; their conversations stay theirs.
 */
export const updateLoads = (loadChanges: readonly LoadChange[]) => sql`
  update team_members
  set current_chat_count = current_chat_count + change.delta, turn = coalesce(change.turn, team_members.turn)
  from (
    select organization_id, team_id, user_id, sum(delta)::integer as delta, max(turn) as turn
    from ${recordset("change", changeColumns, loadChanges)}
    group by organization_id, team_id, user_id
  ) as change
  where team_members.organization_id = change.organization_id
    and team_members.team_id = change.team_id and team_members.user_id = change.user_id`;
