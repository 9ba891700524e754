/**
 * The state that decisions are made from: the agents with their load and round robin position, the weighted
 * credits, and the last agent of each contact.
 *
 * It is read once, with the members locked, and each decision reserves its agent in it. So several
 * conversations are assigned one after the other under one lock, and each decision sees those before it.
 */
import type { Queries } from "../../../database/database.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import { type LastAssignment, readLastAssignments } from "./assignments.ts";
import { type AgentCandidate, type Member, readMembers, toCandidate } from "./candidates.ts";
import {
  type EscalationPath,
  readEscalationPath,
  readTeams,
  type Team,
  tiersAfter,
} from "./escalation-path.ts";
import type { Policy, RoutedConversation } from "./policy.ts";

/** A conversation to route, and the policy that applies to it. */
export interface RoutingRequest {
  readonly conversation: RoutedConversation;
  readonly policy: Policy;
}

export interface RoutingSnapshot {
  readonly now: Date;
  readonly escalationPaths: ReadonlyMap<Policy, EscalationPath>;
  /** By user and team, in the order in which candidates are listed; with those of their skills that are required. */
  readonly members: Map<string, Member>;
  /** Weighted round robin credits by policy and user. */
  readonly credits: Map<string | null, ReadonlyMap<string, number>>;
  /** By contact. */
  readonly lastAssignments: Map<string, LastAssignment>;
}

/** `locks` locks the members until the commit, so that the decisions are still right when they are written. */
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
  const skills = [...new Set(requests.flatMap(requiredSkills))];
  const members = await readMembers(db, { organization, team_ids, conversations, skills, locks });
  // Read after the lock: the transaction that held it before may have changed them.
  const weighted = policies.filter((policy) => usesStrategy(policy, "weighted"));
  const sticky = requests.filter(({ policy }) => usesStrategy(policy, "sticky"));
  return {
    now,
    escalationPaths,
    members: new Map(members.map((member) => [memberKey(member), member])),
    credits: await readCredits(db, organization, weighted),
    lastAssignments: await readLastAssignments(
      db,
      organization,
      sticky.map(({ conversation }) => conversation.contact_id),
    ),
  };
}

interface Reservation {
  readonly team_id: string | null;
  readonly assigned_to: string | null;
  readonly turn: number;
  readonly credits: ReadonlyMap<string, number>;
}

/** Counts the decided agent in the snapshot, for the decisions that follow; the conversation must have had none. */
export function reserveAgent(
  snapshot: RoutingSnapshot,
  { conversation, policy }: RoutingRequest,
  { team_id, assigned_to: user_id, turn, credits }: Reservation,
): void {
  if (user_id === null) {
    return;
  }
  const key = memberKey({ user_id, team_id });
  const member = snapshot.members.get(key);
  if (member) {
    snapshot.members.set(key, { ...member, current_chat_count: member.current_chat_count + 1, turn });
  }
  if (credits.size > 0) {
    snapshot.credits.set(policy.id, new Map([...(snapshot.credits.get(policy.id) ?? []), ...credits]));
  }
  snapshot.lastAssignments.set(conversation.contact_id, { user_id, at: snapshot.now.toISOString() });
}

export interface Candidates {
  /** The team in whose queue the conversation waits while no agent is free. */
  readonly team: Team | null;
  readonly tiers: readonly (readonly AgentCandidate[])[];
  /** The wait after which the next tier is tried; null if there is none. */
  readonly nextTierAfterMs: number | null;
}

/** The candidates in the tiers that the policy has reached by now. */
export function candidatesFor(
  { escalationPaths, members, now }: RoutingSnapshot,
  { conversation, policy }: RoutingRequest,
): Candidates {
  const path = escalationPaths.get(policy);
  if (!path) {
    throw new Error(`The snapshot does not include the policy ${policy.id}.`);
  }
  const { tiers, nextTierAfterMs } = tiersAfter(path, waitTimeMs(conversation, now));
  const candidates = [...members.values()].map((member) => toCandidate(member, conversation, now));
  const candidateTiers = tiers.map((tier, index) =>
    candidates.filter(
      ({ team_id, user_id }) =>
        tier.some(({ id }) => id === team_id) &&
        (index > 0 || path.onlyUserId === undefined || path.onlyUserId === user_id),
    ),
  );
  return {
    team: path.team,
    tiers: path.userWithoutTeam ? [[path.userWithoutTeam], ...candidateTiers] : candidateTiers,
    nextTierAfterMs,
  };
}

/** Whether the policy uses this strategy, directly or as the fallback of sticky. */
export function usesStrategy({ strategy, settings }: Policy, wanted: Policy["strategy"]): boolean {
  return strategy === wanted || (strategy === "sticky" && settings.fallback === wanted);
}

/** In lower case as tags are: by the policy, and by the conversation's tags of the form `skill:fr`. */
export function requiredSkills({ conversation: { tags }, policy }: RoutingRequest): string[] {
  const tagged = tags.filter((tag) => tag.startsWith("skill:")).map((tag) => tag.slice("skill:".length));
  const skills = [...policy.settings.required_skills, ...tagged].map((skill) => skill.toLowerCase());
  return usesStrategy(policy, "skills_based") ? [...new Set(skills)] : [];
}

export function waitTimeMs({ queued_at }: RoutedConversation, now: Date): number {
  return queued_at === null ? 0 : now.getTime() - Date.parse(queued_at);
}

function teamsFor(
  escalationPaths: ReadonlyMap<Policy, EscalationPath>,
  { conversation, policy }: RoutingRequest,
  now: Date,
): readonly Team[] {
  const path = escalationPaths.get(policy);
  return path ? tiersAfter(path, waitTimeMs(conversation, now)).tiers.flat() : [];
}

function memberKey({ user_id, team_id }: { user_id: string; team_id: string | null }): string {
  return `${user_id} ${team_id}`;
}

async function readCredits(db: Queries, organization: string, policies: readonly Policy[]) {
  const credits = new Map<string | null, Map<string, number>>(policies.map(({ id }) => [id, new Map()]));
  if (policies.length > 0) {
    const rows = await ofOrganization(db, organization)
      .selectFrom("routing_credits")
      .select(["policy_id", "user_id", "credit"])
      .where((row) => row("policy_id", "=", row.fn.any(row.val(policies.map(({ id }) => id)))))
      .execute();
    for (const { policy_id, user_id, credit } of rows) {
      credits.get(policy_id)?.set(user_id, credit);
    }
  }
  return credits;
}
