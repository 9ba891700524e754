/**
 * The strategies that choose an agent, as pure functions over the free agents.
 *
 * Agents who are inactive, unavailable or at capacity are filtered out before, so no strategy can
 * exceed a capacity. A strategy gets the free agents tier by tier and chooses in the first tier
 * that has a suitable one.
 */
import type { RoutingStrategy, skipReasons } from "../../../../tools/routing.ts";
import type { PolicySettings } from "./settings.ts";

export type PassedOverReason = (typeof skipReasons)[number];

/** An agent in one team; a user in no team has no count and no capacity. */
export interface Agent {
  readonly user_id: string;
  readonly name: string;
  readonly team_id: string | null;
  readonly current_chat_count: number | null;
  readonly max_concurrent_chats: number | null;
  readonly skills: readonly string[];
  /** The position in the round robin: the lowest is next. */
  readonly turn: number;
}

export interface StrategyInput {
  readonly settings: PolicySettings;
  readonly required_skills: readonly string[];
  readonly waitedMs: number;
  /** The agents' credits in the policy's weighted round robin, by user. */
  readonly credits: ReadonlyMap<string, number>;
  /** The user who was assigned this contact last. */
  readonly lastAgent: string | null;
}

export interface AgentChoice {
  readonly agent: Agent;
  /** Why this agent, as the end of a sentence. */
  readonly reason: string;
  /** Why the other free agents were passed over, unless they lack skills. */
  readonly othersReason: PassedOverReason;
  /** The new credits by user, where they have changed. */
  readonly credits?: ReadonlyMap<string, number>;
}

export type ChooseAgent = (
  tiers: readonly (readonly Agent[])[],
  input: StrategyInput,
) => AgentChoice | undefined;

/** Chooses within one tier that has a free agent. */
type ChooseInTier = (free: readonly Agent[], input: StrategyInput) => AgentChoice | undefined;

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

/** Whether the agent has every required skill. */
export function hasSkills({ skills }: Agent, required: readonly string[]): boolean {
  return required.every((skill) => skills.includes(skill));
}

function inFirstTier(choose: ChooseInTier): ChooseAgent {
  return (tiers, input) => {
    for (const free of tiers) {
      const choice = free.length > 0 ? choose(free, input) : undefined;
      if (choice) {
        return choice;
      }
    }
    return undefined;
  };
}

/**
 * Smooth weighted round robin: each free agent gains their weight as credit, the one with the most credit is
 * chosen and pays the sum of the weights. Agents who are not free neither gain nor pay, so that none returns
 * with a debt or a surplus.
 */
function chooseByWeight(
  free: readonly Agent[],
  { settings, credits }: StrategyInput,
): AgentChoice | undefined {
  const weights = new Map(free.map(({ user_id }) => [user_id, settings.weights[user_id] ?? 1]));
  const newCredits = new Map([...weights].map(([user, weight]) => [user, (credits.get(user) ?? 0) + weight]));
  const creditOf = ({ user_id }: Agent) => newCredits.get(user_id) ?? 0;
  const agent = first(free, (a, b) => creditOf(b) - creditOf(a) || byId(a, b));
  if (!agent) {
    return undefined;
  }
  const total = [...weights.values()].reduce((sum, weight) => sum + weight, 0);
  newCredits.set(agent.user_id, creditOf(agent) - total);
  return { agent, reason: "whose turn it was by weight", othersReason: "not_next", credits: newCredits };
}

/** An agent who has every required skill; after `relax_after_seconds` the one who has the most of them. */
function chooseBySkill(free: readonly Agent[], input: StrategyInput): AgentChoice | undefined {
  const { required_skills: required, waitedMs, settings } = input;
  const skilled = free.filter((agent) => hasSkills(agent, required));
  if (skilled.length > 0) {
    const reason =
      required.length > 0 ? `who has the skills ${required.join(", ")}` : "as no skill is needed";
    return toChoice(first(skilled, byLoad), reason);
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

/** The contact's last agent, in any tier; if that agent is not free, the choice of the policy's fallback. */
function chooseLastAgent(
  tiers: readonly (readonly Agent[])[],
  input: StrategyInput,
): AgentChoice | undefined {
  const agent = tiers.flat().find(({ user_id }) => user_id === input.lastAgent);
  if (agent) {
    return { agent, reason: "who served this contact last", othersReason: "not_last_agent" };
  }
  return baseStrategies[input.settings.fallback](tiers, input);
}

function toChoice(agent: Agent | undefined, reason: string): AgentChoice | undefined {
  return agent && { agent, reason, othersReason: "not_next" };
}

type Compare = (a: Agent, b: Agent) => number;

const byId: Compare = (a, b) =>
  compareText(a.user_id, b.user_id) || compareText(a.team_id ?? "", b.team_id ?? "");
const byTurn: Compare = (a, b) => a.turn - b.turn || byId(a, b);
// By the share of the capacity, not by the count: one conversation of ten is more load than one of twenty.
const byLoad: Compare = (a, b) => loadOf(a) - loadOf(b) || byTurn(a, b);

function loadOf({ current_chat_count: count, max_concurrent_chats: max }: Agent): number {
  return count === null || max === null ? 0 : count / max;
}

function first(agents: readonly Agent[], compare: Compare): Agent | undefined {
  return [...agents].sort(compare)[0];
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
