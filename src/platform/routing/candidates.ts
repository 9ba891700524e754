/** Who could be given a conversation: members of teams as they are now, and what keeps each from it. */
import type { ExpressionBuilder } from "kysely";
import type { Queries } from "../../database/database.ts";
import { refersTo } from "../../database/query/index.ts";
import type { Tables } from "../../database/schema/index.ts";
import { isBusy } from "../kernel/index.ts";
import type { Thread } from "./policy.ts";
import type { Agent, PassedOver } from "./strategies.ts";

export interface Candidate extends Agent {
  /** Why this one can't be given anything now; null for who is free. */
  readonly obstacle: PassedOver | null;
}

/** A member of a team, with what of the user and of the team keeps them from a conversation. */
export type Member = Awaited<ReturnType<ReturnType<typeof members>["execute"]>>[number];

/** Of which teams, for which conversations, and whether what is found is held until the commit. */
export interface Search {
  readonly organization: string;
  readonly team_ids: readonly string[];
  readonly threads: readonly Thread[];
  readonly locks: boolean;
}

/**
 * The members of these teams and who has the threads now, in whichever team, since their counts change with
 * them. Locked one after the other by user, so that two choices never wait for each other.
 */
export async function readMembers(
  db: Queries,
  { organization, team_ids, threads, locks }: Search,
): Promise<Member[]> {
  if (team_ids.length === 0) {
    return [];
  }
  const holders = threads.filter(({ team_id, assigned_to }) => team_id !== null && assigned_to !== null);
  return members(db, organization)
    .where((row) =>
      row.or([
        row("team_members.team_id", "=", row.fn.any(row.val(team_ids))),
        ...holders.map((thread) => isHolder(row, thread)),
      ]),
    )
    .$if(locks, (query) => query.forUpdate("team_members"))
    .execute();
}

/** The seat of an agent in a team, locked until the commit with that of who has the thread; undefined if there is none. */
export async function lockSeat(
  db: Queries,
  thread: Thread,
  { team_id, user_id }: { team_id: string; user_id: string },
): Promise<Candidate | undefined> {
  const rows = await members(db, thread.organization_id)
    .where((row) => row.or([row.and({ "team_members.team_id": team_id, user_id }), isHolder(row, thread)]))
    .forUpdate("team_members")
    .execute();
  const row = rows.find((one) => one.team_id === team_id && one.user_id === user_id);
  return row && toCandidate(row, thread);
}

/** A user apart from any team: without a cap, as there is no row that has one. */
export async function findUser(
  db: Queries,
  { organization_id }: Pick<Thread, "organization_id">,
  user_id: string,
): Promise<Candidate | undefined> {
  const user = await db
    .selectFrom("users")
    .select(["name", "is_active"])
    .where("organization_id", "=", organization_id)
    .where("id", "=", user_id)
    .executeTakeFirst();
  const uncapped = { team_id: null, current_chat_count: null, max_concurrent_chats: null };
  const obstacle = user?.is_active ? null : "inactive";
  return user && { user_id, name: user.name, ...uncapped, skills: [], turn: 0, obstacle };
}

/** What a member can take of this conversation. */
export function toCandidate(row: Member, thread: Thread): Candidate {
  const { user_id, name, team_id, max_concurrent_chats, skills, turn } = row;
  // Whoever has this conversation already has room for it.
  const isOwn = isBusy(thread.status) && thread.team_id === team_id && thread.assigned_to === user_id;
  const current_chat_count = row.current_chat_count - Number(isOwn);
  const checks: [boolean, PassedOver][] = [
    [!row.user_is_active || !row.team_is_active, "inactive"],
    [!row.is_available, "unavailable"],
    [current_chat_count >= max_concurrent_chats, "at_capacity"],
  ];
  const obstacle = checks.find(([holds]) => holds)?.[1] ?? null;
  return { user_id, name, team_id, current_chat_count, max_concurrent_chats, skills, turn, obstacle };
}

function isHolder(row: ExpressionBuilder<Tables, "team_members">, { team_id, assigned_to }: Thread) {
  return row.and([row("team_members.team_id", "=", team_id), row("team_members.user_id", "=", assigned_to)]);
}

function members(db: Queries, organization: string) {
  return db
    .selectFrom("team_members")
    .innerJoin("users", (join) => join.on(refersTo("team_members.user_id", "users")))
    .innerJoin("teams", (join) => join.on(refersTo("team_members.team_id", "teams")))
    .selectAll("team_members")
    .select(["users.name", "users.is_active as user_is_active", "teams.is_active as team_is_active"])
    .where("team_members.organization_id", "=", organization)
    .orderBy("team_members.user_id")
    .orderBy("team_members.team_id");
}
