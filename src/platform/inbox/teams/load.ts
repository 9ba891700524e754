/** The load of agents: which conversations count, and the change of the members' counts. */
import { sql } from "kysely";
import type { ConversationStatus } from "../../../../tools/conversations.ts";
import type { Queries } from "../../../database/database.ts";
import { columnsOf, ofOrganization, recordset, refersTo } from "../../../database/query/index.ts";
import { availableAt } from "./availability.ts";

/** Whether a conversation of this status counts as load of its agent. */
export function countsAsLoad(status: ConversationStatus): boolean {
  return status === "open" || status === "pending";
}

/** How many more conversations the agents of all teams can take, without users who are switched off. */
export async function countFreeCapacity(db: Queries, organization: string, now: Date): Promise<number> {
  const { capacity } = await ofOrganization(db, organization)
    .selectFrom("team_members")
    .innerJoin("teams", (join) => join.on(refersTo("team_members.team_id", "teams")))
    .innerJoin("users", (join) => join.on(refersTo("team_members.user_id", "users")))
    .select(sql<number>`coalesce(sum(max_concurrent_chats - current_chat_count), 0)`.as("capacity"))
    .where("teams.is_active", "=", true)
    .where("users.is_active", "=", true)
    .where(availableAt(now))
    .whereRef("current_chat_count", "<", "max_concurrent_chats")
    .executeTakeFirstOrThrow();
  return capacity;
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
 * Applies the changes. An agent who has left the team has no row to count in; the agent's conversations stay assigned.
 */
export async function applyLoadChanges(tx: Queries, loadChanges: readonly LoadChange[]): Promise<void> {
  if (loadChanges.length === 0) {
    return;
  }
  await sql`
    update team_members
    set current_chat_count = current_chat_count + change.delta, turn = coalesce(change.turn, team_members.turn)
    from (
      select organization_id, team_id, user_id, sum(delta)::integer as delta, max(turn) as turn
      from ${recordset("change", changeColumns, loadChanges)}
      group by organization_id, team_id, user_id
    ) as change
    where team_members.organization_id = change.organization_id
      and team_members.team_id = change.team_id and team_members.user_id = change.user_id
  `.execute(tx);
}
