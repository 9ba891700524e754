/** Decides to whom a conversation goes, and says why; what follows from it is done by conversations. */
import type { z } from "zod";
import type { Candidate as Listed, RoutingStrategy, routingOutcomes } from "../../../tools/routing.ts";
import type { Queries } from "../../database/database.ts";
import type { AgentCandidate } from "./candidates.ts";
import { explainChoice, explainMismatch, explainQueue } from "./explain.ts";
import type { ConversationRow, Policy } from "./policy.ts";
import {
  type Candidates,
  candidatesFor,
  type RoutingRequest,
  type RoutingSnapshot,
  readRoutingSnapshot,
  usesStrategy,
  waitTimeMs,
} from "./snapshot.ts";
import {
  type AgentChoice,
  hasSkills,
  type PassedOverReason,
  type StrategyInput,
  strategies,
} from "./strategies.ts";

/** A decision as it is recorded and shown. */
export interface Decision {
  readonly outcome: (typeof routingOutcomes)[number];
  readonly explanation: string;
  readonly policy_id: string | null;
  readonly policy_name: string | null;
  readonly strategy: RoutingStrategy | null;
  readonly team_id: string | null;
  readonly assigned_to: string | null;
  readonly candidates: z.input<typeof Listed>[];
}

/** A decision with what it changes for the next one. */
export interface PolicyDecision extends Decision {
  /** When time alone may change it: a further tier, or fewer skills. */
  readonly retryAt: Date | null;
  /** The place in the round of who was chosen. */
  readonly turn: number;
  readonly credits: ReadonlyMap<string, number>;
}

/** Whom this policy gives the conversation to, if anybody is free. */
export async function decide(
  db: Queries,
  wish: RoutingRequest,
  { now, locks }: { now: Date; locks: boolean },
): Promise<PolicyDecision> {
  const organization = wish.conversation.organization_id;
  return decideFromSnapshot(await readRoutingSnapshot(db, [wish], { organization, now, locks }), wish);
}

/** The same from a board on which others have been decided too; behind others, who is free is theirs first. */
export function decideFromSnapshot(
  board: RoutingSnapshot,
  wish: RoutingRequest,
  { isBehind = false } = {},
): PolicyDecision {
  const { policy } = wish;
  const candidates = candidatesFor(board, wish);
  const situation = strategyInputOf(board, wish);
  const free = candidates.tiers.map((tier) => tier.filter(({ blockedBy }) => blockedBy === null));
  const choice = isBehind ? undefined : strategies[policy.strategy](free, situation);
  const waits = [candidates.nextTierAfterMs, skillsRelaxedAfterMs(policy, situation.waitedMs)].filter(
    (ms) => ms !== null,
  );
  const since = board.now.getTime() - situation.waitedMs;
  return {
    ...(choice ? assigned(policy, choice, candidates) : queued(policy, candidates, { situation, isBehind })),
    policy_id: policy.id,
    policy_name: policy.id && policy.name,
    strategy: policy.strategy,
    candidates: listCandidates(candidates, situation, choice),
    retryAt: waits.length > 0 ? new Date(since + Math.min(...waits)) : null,
    turn: Math.max(...candidates.tiers.flat().map(({ turn }) => turn), 0) + 1,
    credits: choice?.credits ?? new Map(),
  };
}

/** What there is to say when no policy is for the conversation. */
export function decideUnmatched(policies: readonly Policy[]): Decision {
  const outcome = "unmatched";
  const nobody = { policy_id: null, policy_name: null, strategy: null, team_id: null, assigned_to: null };
  return { ...nobody, outcome, explanation: explainMismatch(policies), candidates: [] };
}

function assigned(policy: Policy, choice: AgentChoice, { team }: Candidates) {
  const { user_id, team_id } = choice.agent;
  const explanation = explainChoice(policy, choice, team);
  return { outcome: "assigned" as const, explanation, team_id, assigned_to: user_id };
}

function queued(
  policy: Policy,
  candidates: Candidates,
  { situation, isBehind }: { situation: StrategyInput; isBehind: boolean },
) {
  const reasons = candidates.tiers
    .flat()
    .map((one) => one.blockedBy ?? passedOverReason(one, situation, "not_next"));
  const explanation = explainQueue(policy, isBehind ? "others wait longer" : reasons, candidates.team);
  return { outcome: "queued" as const, explanation, team_id: candidates.team?.id ?? null, assigned_to: null };
}

/** Every candidate as it is shown: the chosen one without a reason. */
function listCandidates(
  { tiers }: Candidates,
  situation: StrategyInput,
  choice: AgentChoice | undefined,
): Decision["candidates"] {
  return tiers.flat().map((candidate) => {
    const { blockedBy, skills: _skills, turn: _turn, ...shown } = candidate;
    const isChosen = choice?.agent === candidate;
    const reason = blockedBy ?? passedOverReason(candidate, situation, choice?.othersReason ?? "not_next");
    return { ...shown, passed_over: isChosen ? null : reason };
  });
}

function passedOverReason(
  candidate: AgentCandidate,
  { required_skills }: StrategyInput,
  otherwise: PassedOverReason,
): PassedOverReason {
  return hasSkills(candidate, required_skills) ? otherwise : "lacks_skills";
}

/** Until when it must wait for the skills to be relaxed; null when that is past or never comes. */
function skillsRelaxedAfterMs(policy: Policy, waitedMs: number): number | null {
  const { relax_after_seconds: relax } = policy.settings;
  const isLater = usesStrategy(policy, "skills_based") && relax !== undefined && waitedMs < relax * 1000;
  return isLater ? relax * 1000 : null;
}

/** Skills are asked for by tags as `skill:fr`, and by the policy. */
function requiredSkills(policy: Policy, { tags }: ConversationRow): string[] {
  const tagged = tags.filter((tag) => tag.startsWith("skill:")).map((tag) => tag.slice("skill:".length));
  return usesStrategy(policy, "skills_based")
    ? [...new Set([...policy.settings.required_skills, ...tagged])]
    : [];
}

function strategyInputOf(
  { now, credits, lastAssignments }: RoutingSnapshot,
  { conversation, policy }: RoutingRequest,
): StrategyInput {
  const { strategy, settings } = policy;
  const last = strategy === "sticky" ? lastAssignments.get(conversation.contact_id) : undefined;
  const since = now.getTime() - settings.ttl_days * 24 * 3_600_000;
  return {
    settings,
    required_skills: requiredSkills(policy, conversation),
    waitedMs: waitTimeMs(conversation, now),
    credits: credits.get(policy.id) ?? new Map(),
    lastAgent: last && Date.parse(last.at) >= since ? last.user_id : null,
  };
}
