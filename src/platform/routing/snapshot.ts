/**
 * What the choices for some conversations are made from: who is there with which load, whose turn it is,
 * who is owed what, who served whom last.
 *
 * It is read once, with the members locked, and each choice is noted on it: so many conversations are given
 * out one after the other under one lock, and each choice knows of those before it.
 */
import { sql } from "kysely";
import type { Queries } from "../../database/database.ts";
import { type AgentCandidate, type Member, readMembers, toCandidate } from "./candidates.ts";
import {
  type EscalationPath,
  readEscalationPath,
  readTeams,
  type Team,
  tiersAfter,
} from "./escalation-path.ts";
import type { ConversationRow, Policy } from "./policy.ts";

/** A conversation, and the policy by which it is to find somebody. */
export interface RoutingRequest {
  readonly conversation: ConversationRow;
  readonly policy: Policy;
}

export interface RoutingSnapshot {
  readonly now: Date;
  readonly escalationPaths: ReadonlyMap<Policy, EscalationPath>;
  /** By user and team, in the order in which they are listed. */
  readonly members: Map<string, Member>;
  /** What each agent is owed in the weighted round of a policy. */
  readonly credits: Map<string | null, ReadonlyMap<string, number>>;
  /** By contact. */
  readonly lastAssignments: Map<string, LastAssignment>;
}

interface LastAssignment {
  readonly user_id: string;
  readonly at: string;
}

/** With `locks`, held until the commit: so the choices are still right when they are written. */
export async function readRoutingSnapshot(
  db: Queries,
  requests: readonly RoutingRequest[],
  { organization, now, locks }: { organization: string; now: Date; locks: boolean },
): Promise<RoutingSnapshot> {
  const teams = await readTeams(db, organization);
  const policies = [...new Set(requests.map(({ policy }) => policy))];
  const escalationPaths = new Map<Policy, EscalationPath>();
  for (const policy of policies) {
    escalationPaths.set(policy, await readEscalationPath(db, policy, teams));
  }
  const reached = requests.flatMap((request) => teamsFor(escalationPaths, request, now));
  const team_ids = [...new Set(reached.map(({ id }) => id))];
  const conversations = requests.map(({ conversation }) => conversation);
  const members = await readMembers(db, { organization, team_ids, conversations, locks });
  // Behind the lock: whoever held it before may have changed them.
  const weighted = policies.filter((policy) => usesStrategy(policy, "weighted"));
  const sticky = requests.filter(({ policy }) => usesStrategy(policy, "sticky"));
  return {
    now,
    escalationPaths,
    members: new Map(members.map((member) => [memberKey(member), member])),
    credits: await readCredits(db, organization, weighted),
    lastAssignments: await readLastAssignments(db, organization, sticky),
  };
}

/** Notes to whom a conversation that nobody had goes, if to anybody: the next choice knows of it. */
export function reserveAgent(
  board: RoutingSnapshot,
  { conversation, policy }: RoutingRequest,
  decided: Reservation,
): void {
  const { team_id, assigned_to: user_id, turn, credits } = decided;
  if (user_id === null) {
    return;
  }
  const key = memberKey({ user_id, team_id });
  const member = board.members.get(key);
  if (member) {
    board.members.set(key, { ...member, current_chat_count: member.current_chat_count + 1, turn });
  }
  if (credits.size > 0) {
    board.credits.set(policy.id, new Map([...(board.credits.get(policy.id) ?? []), ...credits]));
  }
  board.lastAssignments.set(conversation.contact_id, { user_id, at: board.now.toISOString() });
}

interface Reservation {
  readonly team_id: string | null;
  readonly assigned_to: string | null;
  readonly turn: number;
  readonly credits: ReadonlyMap<string, number>;
}

export interface Candidates {
  /** In whose queue the conversation waits if nobody is free. */
  readonly team: Team | null;
  readonly tiers: readonly (readonly AgentCandidate[])[];
  /** How long it must wait until the next tier is tried; null when there is none. */
  readonly nextTierAfterMs: number | null;
}

/** Those whom the policy escalationPaths by now, tier by tier. */
export function candidatesFor(
  { escalationPaths, members, now }: RoutingSnapshot,
  { conversation, policy }: RoutingRequest,
): Candidates {
  const reach = escalationPaths.get(policy);
  if (!reach) {
    throw new Error(`The board was not opened for the policy ${policy.id}.`);
  }
  const { tiers, nextTierAfterMs } = tiersAfter(reach, waitTimeMs(conversation, now));
  const all = [...members.values()].map((member) => toCandidate(member, conversation));
  const found = tiers.map((tier, index) =>
    all.filter(
      ({ team_id, user_id }) =>
        tier.some(({ id }) => id === team_id) &&
        (index > 0 || reach.onlyUserId === undefined || reach.onlyUserId === user_id),
    ),
  );
  return {
    team: reach.team,
    tiers: reach.userWithoutTeam ? [[reach.userWithoutTeam], ...found] : found,
    nextTierAfterMs,
  };
}

/** Whether the policy goes by this strategy, at first or when its first one finds nobody. */
export function usesStrategy({ strategy, settings }: Policy, wanted: Policy["strategy"]): boolean {
  return strategy === wanted || (strategy === "sticky" && settings.fallback === wanted);
}

export function waitTimeMs({ queued_at }: ConversationRow, now: Date): number {
  return queued_at === null ? 0 : now.getTime() - Date.parse(queued_at);
}

function teamsFor(
  escalationPaths: ReadonlyMap<Policy, EscalationPath>,
  { conversation, policy }: RoutingRequest,
  now: Date,
): readonly Team[] {
  const reach = escalationPaths.get(policy);
  return reach ? tiersAfter(reach, waitTimeMs(conversation, now)).tiers.flat() : [];
}

function memberKey({ user_id, team_id }: { user_id: string; team_id: string | null }): string {
  return `${user_id} ${team_id}`;
}

async function readCredits(db: Queries, organization: string, policies: readonly Policy[]) {
  const credits = new Map<string | null, Map<string, number>>(policies.map(({ id }) => [id, new Map()]));
  if (policies.length > 0) {
    const rows = await db
      .selectFrom("routing_credits")
      .select(["policy_id", "user_id", "credit"])
      .where("organization_id", "=", organization)
      .where((row) => row("policy_id", "=", row.fn.any(row.val(policies.map(({ id }) => id)))))
      .execute();
    for (const { policy_id, user_id, credit } of rows) {
      credits.get(policy_id)?.set(user_id, credit);
    }
  }
  return credits;
}

/** Who was given each of these contacts last, in any of its conversations. */
async function readLastAssignments(db: Queries, organization: string, requests: readonly RoutingRequest[]) {
  if (requests.length === 0) {
    return new Map<string, LastAssignment>();
  }
  const { rows } = await sql<LastAssignment & { contact_id: string }>`
    select last.contact_id, last.assigned_to as user_id, last.created_at as at
    from unnest(${requests.map(({ conversation }) => conversation.contact_id)}::text[]) as contact (id)
    cross join lateral (
      select contact_id, assigned_to, created_at from assignments
      where organization_id = ${organization} and contact_id = contact.id and assigned_to is not null
      order by id desc limit 1
    ) as last
  `.execute(db);
  return new Map(rows.map(({ contact_id, user_id, at }) => [contact_id, { user_id, at }]));
}
