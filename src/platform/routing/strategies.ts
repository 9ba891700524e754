/**
 * How an agent is chosen, as pure functions over who is free.
 *
 * Whoever is busy, away or switched off has been left out before, so no strategy can exceed a capacity. A
 * strategy is given the free ones tier by tier, and takes the first tier that has somebody for it.
 */
import type { passedOver, RoutingStrategy } from "../../../tools/routing.ts";
import type { Settings } from "./settings.ts";

export type PassedOver = (typeof passedOver)[number];

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
export interface Situation {
  readonly settings: Settings;
  readonly required_skills: readonly string[];
  readonly waitedMs: number;
  /** What each agent is owed in this policy's weighted round. */
  readonly credits: ReadonlyMap<string, number>;
  /** Who was given this contact last. */
  readonly lastAgent: string | null;
}

export interface Choice {
  readonly agent: Agent;
  /** Why this one, as the end of a sentence. */
  readonly because: string;
  /** Why the other free ones were not taken, unless they lack skills. */
  readonly others: PassedOver;
  /** What each is owed from now on, where that has changed. */
  readonly credits?: ReadonlyMap<string, number>;
}

export type Choose = (tiers: readonly (readonly Agent[])[], situation: Situation) => Choice | undefined;

/** Chooses within one tier, of which somebody is free. */
type Pick = (free: readonly Agent[], situation: Situation) => Choice | undefined;

const simple = {
  round_robin: tierByTier((free) => chosen(first(free, byTurn), "whose turn it was")),
  weighted: tierByTier(pickByWeight),
  load_balanced: tierByTier((free) => chosen(first(free, byLoad), "who has the most room")),
  skills_based: tierByTier(pickBySkill),
} as const satisfies Record<Settings["fallback"], Choose>;

export const strategies: Readonly<Record<RoutingStrategy, Choose>> = { ...simple, sticky: chooseLast };

/** Whether the agent has every skill that is asked for. */
export function hasSkills({ skills }: Agent, required: readonly string[]): boolean {
  return required.every((skill) => skills.includes(skill));
}

function tierByTier(pick: Pick): Choose {
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
function pickByWeight(free: readonly Agent[], { settings, credits }: Situation): Choice | undefined {
  const weights = new Map(free.map(({ user_id }) => [user_id, settings.weights[user_id] ?? 1]));
  const owed = new Map([...weights].map(([user, weight]) => [user, (credits.get(user) ?? 0) + weight]));
  const owedTo = ({ user_id }: Agent) => owed.get(user_id) ?? 0;
  const agent = first(free, (a, b) => owedTo(b) - owedTo(a) || byName(a, b));
  if (!agent) {
    return undefined;
  }
  const total = [...weights.values()].reduce((sum, weight) => sum + weight, 0);
  owed.set(agent.user_id, owedTo(agent) - total);
  return { agent, because: "whose turn it was by weight", others: "not_next", credits: owed };
}

/** Somebody who has every skill; after `relax_after_seconds` whoever has the most of them. */
function pickBySkill(free: readonly Agent[], situation: Situation): Choice | undefined {
  const { required_skills: required, waitedMs, settings } = situation;
  const able = free.filter((agent) => hasSkills(agent, required));
  if (able.length > 0) {
    const because =
      required.length > 0 ? `who has the skills ${required.join(", ")}` : "as no skill is needed";
    return chosen(first(able, byLoad), because);
  }
  const { relax_after_seconds: relax } = settings;
  if (relax === undefined || waitedMs < relax * 1000) {
    return undefined;
  }
  const overlap = ({ skills }: Agent) => required.filter((skill) => skills.includes(skill)).length;
  const nearest = first(free, (a, b) => overlap(b) - overlap(a) || byLoad(a, b));
  return chosen(
    nearest,
    `who comes nearest to the skills ${required.join(", ")}, after ${relax} s of waiting`,
  );
}

/** Who had the contact last, in whatever tier; else as the policy's fallback says. */
function chooseLast(tiers: readonly (readonly Agent[])[], situation: Situation): Choice | undefined {
  const agent = tiers.flat().find(({ user_id }) => user_id === situation.lastAgent);
  if (agent) {
    return { agent, because: "who served this contact last", others: "not_last_agent" };
  }
  return simple[situation.settings.fallback](tiers, situation);
}

function chosen(agent: Agent | undefined, because: string): Choice | undefined {
  return agent && { agent, because, others: "not_next" };
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
