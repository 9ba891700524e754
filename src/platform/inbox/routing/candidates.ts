/** The candidates for a conversation: members of teams with their current load, and what rules each of them out. */
import { type ExpressionBuilder, sql } from "kysely";
import type { Queries } from "../../../database/database.ts";
import { ofOrganization, refersTo } from "../../../database/query/index.ts";
import type { Tables } from "../../../database/schema/index.ts";
import { countsAsLoad, isAvailableAt } from "../teams/index.ts";
import type { RoutedConversation } from "./policy.ts";
import type { Agent, PassedOverReason } from "./strategies.ts";

export interface AgentCandidate extends Agent {
  /** Why the agent can't take the conversation now; null for a free agent. */
  readonly blockedBy: PassedOverReason | null;
}

/** A member of a team, with the user's name and whether user and team are active. */
export type Member = Awaited<ReturnType<ReturnType<typeof selectMembers>["execute"]>>[number];

export interface MemberSearch {
  readonly organization: string;
  readonly team_ids: readonly string[];
  readonly conversations: readonly RoutedConversation[];
  /** The skills to read: a member may have 100, and a team hundreds of members. */
  readonly skills: readonly string[];
  /** Whether to lock the members until the commit. */
  readonly locks: boolean;
}

/**
 * Reads the members of these teams and the current agents of the conversations, whose counts change too,
 * whatever their team. Locks in the order of the users, so that two decisions never deadlock.
 */
export async function readMembers(
  db: Queries,
  { organization, team_ids, conversations, skills, locks }: MemberSearch,
): Promise<Member[]> {
  if (team_ids.length === 0) {
    return [];
  }
  const assigned = conversations.filter(
    ({ team_id, assigned_to }) => team_id !== null && assigned_to !== null,
  );
  return selectMembers(db, organization, skills)
    .where((row) =>
      row.or([
        row("team_members.team_id", "=", row.fn.any(row.val(team_ids))),
        ...assigned.map((conversation) => isCurrentAgent(row, conversation)),
      ]),
    )
    .$if(locks, (query) => query.forUpdate("team_members"))
    .execute();
}

/** The member, locked until the commit together with the conversation's current agent; undefined if none. */
export async function lockMember(
  db: Queries,
  conversation: RoutedConversation,
  { team_id, user_id, now }: { team_id: string; user_id: string; now: Date },
): Promise<AgentCandidate | undefined> {
  const members = await selectMembers(db, conversation.organization_id, [])
    .where((row) =>
      row.or([row.and({ "team_members.team_id": team_id, user_id }), isCurrentAgent(row, conversation)]),
    )
    .forUpdate("team_members")
    .execute();
  const member = members.find((row) => row.team_id === team_id && row.user_id === user_id);
  return member && toCandidate(member, conversation, now);
}

/** A user outside any team. Capacity is set per team, so there is none here. */
export async function findUser(
  db: Queries,
  { organization_id }: Pick<RoutedConversation, "organization_id">,
  user_id: string,
): Promise<AgentCandidate | undefined> {
  const user = await ofOrganization(db, organization_id)
    .selectFrom("users")
    .select(["name", "is_active"])
    .where("id", "=", user_id)
    .executeTakeFirst();
  const uncapped = { team_id: null, current_chat_count: null, max_concurrent_chats: null };
  const blockedBy = user?.is_active ? null : "inactive";
  return user && { user_id, name: user.name, ...uncapped, skills: [], turn: 0, blockedBy };
}

/** The member as a candidate for this conversation. */
export function toCandidate(member: Member, conversation: RoutedConversation, now: Date): AgentCandidate {
  const { user_id, name, team_id, max_concurrent_chats, skills, turn } = member;
  // The conversation already counts for its current agent, who can therefore keep it at full capacity.
  const isCounted =
    countsAsLoad(conversation.status) &&
    conversation.team_id === team_id &&
    conversation.assigned_to === user_id;
  const current_chat_count = member.current_chat_count - Number(isCounted);
  const checks: [boolean, PassedOverReason][] = [
    [!member.team_is_active, "team_inactive"],
    [!member.user_is_active, "inactive"],
    [!isAvailableAt(member, now), "unavailable"],
    [current_chat_count >= max_concurrent_chats, "at_capacity"],
  ];
  const blockedBy = checks.find(([isBlocked]) => isBlocked)?.[1] ?? null;
  return { user_id, name, team_id, current_chat_count, max_concurrent_chats, skills, turn, blockedBy };
}

function isCurrentAgent(
  row: ExpressionBuilder<Tables, "team_members">,
  { team_id, assigned_to }: RoutedConversation,
) {
  return row.and([row("team_members.team_id", "=", team_id), row("team_members.user_id", "=", assigned_to)]);
}

function selectMembers(db: Queries, organization: string, skills: readonly string[]) {
  const withSkills = sql<string[]>`array(
    select lower(skill) from unnest(team_members.skills) as skill where lower(skill) = any(${skills}::text[])
  )`;
  return ofOrganization(db, organization)
    .selectFrom("team_members")
    .innerJoin("users", (join) => join.on(refersTo("team_members.user_id", "users")))
    .innerJoin("teams", (join) => join.on(refersTo("team_members.team_id", "teams")))
    .select(["team_id", "user_id", "current_chat_count", "max_concurrent_chats", "turn"])
    .select(["is_available", "unavailable_from", "unavailable_until"])
    .select(withSkills.as("skills"))
    .select(["users.name", "users.is_active as user_is_active", "teams.is_active as team_is_active"])
    .orderBy("team_members.user_id")
    .orderBy("team_members.team_id");
}
