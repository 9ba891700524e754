/**
 * Decides which agent gets a conversation, and explains it; the conversations module applies the decision.
 */
import type { z } from "zod";
import type { Candidate, RoutingStrategy, routingOutcomes } from "../../../../tools/routing.ts";
import type { Queries } from "../../../database/database.ts";
import type { AgentCandidate } from "./candidates.ts";
import { explainChoice, explainMismatch, explainQueue } from "./explain.ts";
import type { Policy } from "./policy.ts";
import {
  type Candidates,
  candidatesFor,
  type RoutingRequest,
  type RoutingSnapshot,
  readRoutingSnapshot,
  requiredSkills,
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

/** A decision as it is recorded and returned. */
export interface Decision {
  readonly outcome: (typeof routingOutcomes)[number];
  readonly explanation: string;
  readonly policy_id: string | null;
  readonly policy_name: string | null;
  readonly strategy: RoutingStrategy | null;
  readonly team_id: string | null;
  readonly assigned_to: string | null;
  readonly candidates: z.input<typeof Candidate>[];
}

/** A decision made by a policy, with what later decisions depend on. */
export interface PolicyDecision extends Decision {
  /** When time alone may change the decision: one more tier, or relaxed skills. */
  readonly retryAt: Date | null;
  /** The new position of the chosen agent in the round robin. */
  readonly turn: number;
  /** The new weighted round robin credits by user, where they changed. */
  readonly credits: ReadonlyMap<string, number>;
}

/** The decision of the policy: an agent if one is free, else the queue. */
export async function decide(
  db: Queries,
  request: RoutingRequest,
  { now, locks }: { now: Date; locks: boolean },
): Promise<PolicyDecision> {
  const organization = request.conversation.organization_id;
  return decideFromSnapshot(await readRoutingSnapshot(db, [request], { organization, now, locks }), request);
}

/**
 * The same from a snapshot that earlier decisions may already have changed. A conversation that is behind
 * others is queued even if an agent is free.
 */
export function decideFromSnapshot(
  snapshot: RoutingSnapshot,
  request: RoutingRequest,
  { isBehindOthers = false } = {},
): PolicyDecision {
  const { policy } = request;
  const candidates = candidatesFor(snapshot, request);
  const input = strategyInputOf(snapshot, request);
  const free = candidates.tiers.map((tier) => tier.filter(({ blockedBy }) => blockedBy === null));
  const choice = isBehindOthers ? undefined : strategies[policy.strategy](free, input);
  const retriesAfterMs = [candidates.nextTierAfterMs, skillsRelaxedAfterMs(policy, input.waitedMs)].filter(
    (ms) => ms !== null,
  );
  const waitStartMs = snapshot.now.getTime() - input.waitedMs;
  return {
    ...(choice
      ? assignedResult(policy, choice, candidates)
      : queuedResult(policy, candidates, { input, isBehindOthers })),
    policy_id: policy.id,
    policy_name: policy.id && policy.name,
    strategy: policy.strategy,
    candidates: listCandidates(candidates, input, choice),
    retryAt: retriesAfterMs.length > 0 ? new Date(waitStartMs + Math.min(...retriesAfterMs)) : null,
    turn: Math.max(...candidates.tiers.flat().map(({ turn }) => turn), 0) + 1,
    credits: choice?.credits ?? new Map(),
  };
}

/** The decision when no policy matches the conversation. */
export function decideUnmatched(policies: readonly Policy[]): Decision {
  return {
    outcome: "unmatched",
    explanation: explainMismatch(policies),
    policy_id: null,
    policy_name: null,
    strategy: null,
    team_id: null,
    assigned_to: null,
    candidates: [],
  };
}

function assignedResult(policy: Policy, choice: AgentChoice, { team }: Candidates) {
  const { user_id, team_id } = choice.agent;
  const explanation = explainChoice(policy, choice, team);
  return { outcome: "assigned" as const, explanation, team_id, assigned_to: user_id };
}

function queuedResult(
  policy: Policy,
  { tiers, team }: Candidates,
  { input, isBehindOthers }: { input: StrategyInput; isBehindOthers: boolean },
) {
  const reasons = isBehindOthers
    ? "others wait longer"
    : tiers.flat().map((candidate) => passedOverReason(candidate, input, "not_next"));
  const explanation = explainQueue(policy, reasons, team);
  return { outcome: "queued" as const, explanation, team_id: team?.id ?? null, assigned_to: null };
}

/** Every candidate with the reason why it was passed over; null for the chosen one. */
function listCandidates(
  { tiers }: Candidates,
  input: StrategyInput,
  choice: AgentChoice | undefined,
): Decision["candidates"] {
  return tiers.flat().map((candidate) => {
    const { blockedBy: _blockedBy, skills: _skills, turn: _turn, ...shown } = candidate;
    const isChosen = choice?.agent === candidate;
    const reason = passedOverReason(candidate, input, choice?.othersReason ?? "not_next");
    return { ...shown, passed_over: isChosen ? null : reason };
  });
}

function passedOverReason(
  candidate: AgentCandidate,
  { required_skills }: StrategyInput,
  otherwise: PassedOverReason,
): PassedOverReason {
  return candidate.blockedBy ?? (hasSkills(candidate, required_skills) ? otherwise : "lacks_skills");
}

/** The wait after which skills are relaxed; null if that is past or never comes. */
function skillsRelaxedAfterMs(policy: Policy, waitedMs: number): number | null {
  const { relax_after_seconds: relax } = policy.settings;
  const isLater = usesStrategy(policy, "skills_based") && relax !== undefined && waitedMs < relax * 1000;
  return isLater ? relax * 1000 : null;
}

function strategyInputOf(
  { now, credits, lastAssignments }: RoutingSnapshot,
  { conversation, policy }: RoutingRequest,
): StrategyInput {
  const { strategy, settings } = policy;
  const last = strategy === "sticky" ? lastAssignments.get(conversation.contact_id) : undefined;
  const oldestMs = now.getTime() - settings.ttl_days * 24 * 3_600_000;
  return {
    settings,
    required_skills: requiredSkills({ conversation, policy }),
    waitedMs: waitTimeMs(conversation, now),
    credits: credits.get(policy.id) ?? new Map(),
    lastAgent: last && Date.parse(last.at) >= oldestMs ? last.user_id : null,
  };
}
