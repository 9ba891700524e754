/**
 * How an agent is chosen, as pure functions over who is free.
 *
 * Whoever is busy, away or switched off has been left out before, so no strategy can exceed a capacity. A
 * strategy is given the free ones tier by tier, and takes the first tier that has somebody for it.
 */
import type { RoutingStrategy, skipReasons } from "../../../tools/routing.ts";
import type { PolicySettings } from "./settings.ts";

export type PassedOverReason = (typeof skipReasons)[number];

/** An agent in one team; of a user in no team only the user is known, and there is no cap. */
export interface Agent {
  readonly user_id: string;
  readonly name: string;
  readonly team_id: string | null;
  readonly current_chat_count: number | null;
  readonly max_concurrent_chats: number | null;
  readonly skills: readonly string[];
  /** The place in the round: the lowest is next. */
  readonly turn: number;
}

/** What is known of the conversation and of the policy's past. */
export interface StrategyInput {
  readonly settings: PolicySettings;
  readonly required_skills: readonly string[];
  readonly waitedMs: number;
  /** What each agent is owed in this policy's weighted round. */
  readonly credits: ReadonlyMap<string, number>;
  /** Who was given this contact last. */
  readonly lastAgent: string | null;
}

export interface AgentChoice {
  readonly agent: Agent;
  /** Why this one, as the end of a sentence. */
  readonly reason: string;
  /** Why the other free ones were not taken, unless they lack skills. */
  readonly othersReason: PassedOverReason;
  /** What each is owed from now on, where that has changed. */
  readonly credits?: ReadonlyMap<string, number>;
}

export type ChooseAgent = (
  tiers: readonly (readonly Agent[])[],
  situation: StrategyInput,
) => AgentChoice | undefined;

/** Chooses within one tier, of which somebody is free. */
type ChooseInTier = (free: readonly Agent[], situation: StrategyInput) => AgentChoice | undefined;

const baseStrategies = {
  round_robin: inFirstTier((free) => toChoice(first(free, byTurn), "whose turn it was")),
  weighted: inFirstTier(chooseByWeight),
  load_balanced: inFirstTier((free) => toChoice(first(free, byLoad), "who has the most room")),
  skills_based: inFirstTier(chooseBySkill),
} as const satisfies Record<PolicySettings["fallback"], ChooseAgent>;

export const strategies: Readonly<Record<RoutingStrategy, ChooseAgent>> = {
  ...baseStrategies,
  sticky: chooseLastAgent,
};

/** Whether the agent has every skill that is asked for. */
export function hasSkills({ skills }: Agent, required: readonly string[]): boolean {
  return required.every((skill) => skills.includes(skill));
}

function inFirstTier(pick: ChooseInTier): ChooseAgent {
  return (tiers, situation) => {
    for (const free of tiers) {
      const choice = free.length > 0 ? pick(free, situation) : undefined;
      if (choice) {
        return choice;
      }
    }
    return undefined;
  };
}

/**
 * Smooth weighted round robin: everyone gains their weight, the richest is taken and pays for all. Those who
 * are not free neither gain nor pay, so that nobody comes back to a debt or a hoard.
 */
function chooseByWeight(
  free: readonly Agent[],
  { settings, credits }: StrategyInput,
): AgentChoice | undefined {
  const weights = new Map(free.map(({ user_id }) => [user_id, settings.weights[user_id] ?? 1]));
  const owed = new Map([...weights].map(([user, weight]) => [user, (credits.get(user) ?? 0) + weight]));
  const owedTo = ({ user_id }: Agent) => owed.get(user_id) ?? 0;
  const agent = first(free, (a, b) => owedTo(b) - owedTo(a) || byName(a, b));
  if (!agent) {
    return undefined;
  }
  const total = [...weights.values()].reduce((sum, weight) => sum + weight, 0);
  owed.set(agent.user_id, owedTo(agent) - total);
  return { agent, reason: "whose turn it was by weight", othersReason: "not_next", credits: owed };
}

/** Somebody who has every skill; after `relax_after_seconds` whoever has the most of them. */
function chooseBySkill(free: readonly Agent[], situation: StrategyInput): AgentChoice | undefined {
  const { required_skills: required, waitedMs, settings } = situation;
  const able = free.filter((agent) => hasSkills(agent, required));
  if (able.length > 0) {
    const because =
      required.length > 0 ? `who has the skills ${required.join(", ")}` : "as no skill is needed";
    return toChoice(first(able, byLoad), because);
  }
  const { relax_after_seconds: relax } = settings;
  if (relax === undefined || waitedMs < relax * 1000) {
    return undefined;
  }
  const overlap = ({ skills }: Agent) => required.filter((skill) => skills.includes(skill)).length;
  const nearest = first(free, (a, b) => overlap(b) - overlap(a) || byLoad(a, b));
  return toChoice(
    nearest,
    `who comes nearest to the skills ${required.join(", ")}, after ${relax} s of waiting`,
  );
}

/** Who had the contact last, in whatever tier; else as the policy's fallback says. */
function chooseLastAgent(
  tiers: readonly (readonly Agent[])[],
  situation: StrategyInput,
): AgentChoice | undefined {
  const agent = tiers.flat().find(({ user_id }) => user_id === situation.lastAgent);
  if (agent) {
    return { agent, reason: "who served this contact last", othersReason: "not_last_agent" };
  }
  return baseStrategies[situation.settings.fallback](tiers, situation);
}

function toChoice(agent: Agent | undefined, because: string): AgentChoice | undefined {
  return agent && { agent, reason: because, othersReason: "not_next" };
}

type Order = (a: Agent, b: Agent) => number;

const byName: Order = (a, b) => compare(a.user_id, b.user_id) || compare(a.team_id ?? "", b.team_id ?? "");
const byTurn: Order = (a, b) => a.turn - b.turn || byName(a, b);
// The share of the capacity, not the count: one of ten is busier than one of twenty.
const byLoad: Order = (a, b) => loadOf(a) - loadOf(b) || byTurn(a, b);

function loadOf({ current_chat_count: count, max_concurrent_chats: max }: Agent): number {
  return count === null || max === null ? 0 : count / max;
}

function first(agents: readonly Agent[], order: Order): Agent | undefined {
  return [...agents].sort(order)[0];
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
