/**
 * Who may be given a conversation by a policy: the members of its target tier by tier, and why some can't be.
 *
 * A team reaches further up the longer the conversation waits: after each `escalate_after_seconds` the next
 * higher active tier is tried too. A policy without a target reaches every active team at once.
 */
import type { ExpressionBuilder, Selectable } from "kysely";
import type { Queries } from "../../database/database.ts";
import type { Tables } from "../../database/schema.ts";
import { isBusy } from "../core/capacity.ts";
import { refersTo } from "../core/refers-to.ts";
import type { Policy, Thread } from "./policy.ts";
import type { Agent, PassedOver } from "./strategies.ts";

export interface Candidate extends Agent {
  /** Why this one can't be given anything now; null for who is free. */
  readonly obstacle: PassedOver | null;
}

export interface Candidates {
  /** In whose queue the conversation waits if nobody is free. */
  readonly team: Team | null;
  readonly tiers: readonly (readonly Candidate[])[];
  /** How long it must wait until the next tier is tried; null when there is none. */
  readonly nextTierAfterMs: number | null;
}

/** What to look for, and whether what is found is held until the commit. */
export interface Search {
  readonly thread: Thread;
  readonly waitedMs: number;
  readonly locks: boolean;
}

type Team = Pick<Selectable<Tables["teams"]>, "id" | "name" | "tier" | "is_active">;

/** Teams by tier, and whom alone of the first one. */
interface Reach {
  readonly team: Team | null;
  readonly tiers: readonly (readonly Team[])[];
  readonly only?: string;
}

export async function findCandidates(db: Queries, policy: Policy, search: Search): Promise<Candidates> {
  const teams = await readTeams(db, policy.organization_id);
  const reach = await targets[policy.target_type](db, policy, teams);
  const seconds = policy.settings.escalate_after_seconds;
  const higher = reach.team ? tiersOf(teams.filter(({ tier }) => tier > (reach.team?.tier ?? 0))) : [];
  const reached = Math.floor(search.waitedMs / (seconds * 1000));
  const tiers = [...reach.tiers, ...higher.slice(0, reached)];
  const members = await readMembers(db, tiers.flat(), search);
  const found = tiers.map((tier, index) =>
    members.filter(
      ({ team_id, user_id }) =>
        tier.some(({ id }) => id === team_id) &&
        (index > 0 || reach.only === undefined || reach.only === user_id),
    ),
  );
  const alone = reach.only !== undefined && !reach.team ? await findUser(db, policy, reach.only) : undefined;
  return {
    team: reach.team,
    tiers: [alone ? [alone] : [], ...found],
    nextTierAfterMs: reached < higher.length ? (reached + 1) * seconds * 1000 : null,
  };
}

const targets: Record<
  Policy["target_type"],
  (db: Queries, policy: Policy, teams: readonly Team[]) => Promise<Reach>
> = {
  async team(_, { target_id }, teams) {
    if (target_id === null) {
      return { team: null, tiers: tiersOf(teams) };
    }
    const team = teams.find(({ id }) => id === target_id) ?? null;
    return { team, tiers: team ? [[team]] : [] };
  },

  async user(db, { organization_id, target_id }, teams) {
    const only = target_id ?? "";
    const rows = await db
      .selectFrom("team_members")
      .select("team_id")
      .where("organization_id", "=", organization_id)
      .where("user_id", "=", only)
      .execute();
    const own = new Set(rows.map(({ team_id }) => team_id));
    const team = teams.find(({ id, is_active }) => is_active && own.has(id)) ?? null;
    return { team, tiers: team ? [[team]] : [], only };
  },
};

/** The active teams, the lowest tier first. */
function tiersOf(teams: readonly Team[]): Team[][] {
  const active = teams.filter(({ is_active }) => is_active);
  const tiers = [...new Set(active.map(({ tier }) => tier))].sort((a, b) => a - b);
  return tiers.map((tier) => active.filter((team) => team.tier === tier));
}

/** All teams of the organization, the lowest tier first. */
async function readTeams(db: Queries, organization: string): Promise<Team[]> {
  return db
    .selectFrom("teams")
    .select(["id", "name", "tier", "is_active"])
    .where("organization_id", "=", organization)
    .orderBy("tier")
    .orderBy("id")
    .execute();
}

/**
 * The members of these teams and who has the thread now, in whichever team, since their count changes with it.
 * Locked one after the other by user, so that two choices never wait for each other.
 */
async function readMembers(db: Queries, teams: readonly Team[], { thread, locks }: Search) {
  if (teams.length === 0) {
    return [];
  }
  const ids = teams.map(({ id }) => id);
  const rows = await members(db, thread.organization_id)
    .where((row) => row.or([row("team_members.team_id", "in", ids), isHolder(row, thread)]))
    .$if(locks, (query) => query.forUpdate("team_members"))
    .execute();
  return rows.map((row) => toCandidate(row, thread));
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

type MemberRow = Awaited<ReturnType<ReturnType<typeof members>["execute"]>>[number];

function toCandidate(row: MemberRow, thread: Thread): Candidate {
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
