/** Chooses mutations spread over modules, operators and functions. */
import { createHash } from "node:crypto";
import { type Mutation, type OperatorName, operators } from "./mutation.ts";

export interface MutationChoice {
  readonly seed: number;
  readonly count: number;
}

/**
 * The same sources and seed give the same list, and a smaller count gives the beginning of the list. First,
 * every module gets one mutation, in the order of the seed; after that the largest modules come first in each
 * round. In its turn, a module gets the operator that has been used least so far and is possible there. No
 * function gets two mutations.
 */
export function choose(all: readonly Mutation[], { seed, count }: MutationChoice): Mutation[] {
  const ranked = new Map<string, Mutation[]>();
  for (const mutation of sortBy(all, ({ id }) => rank(seed, id))) {
    ranked.set(mutation.module, [...(ranked.get(mutation.module) ?? []), mutation]);
  }
  const first = sortBy([...ranked.keys()], (module) => rank(seed, module));
  const later = [...first].sort((a, b) => (ranked.get(b)?.length ?? 0) - (ranked.get(a)?.length ?? 0));
  const chosen: Mutation[] = [];
  for (let round = 0; chosen.length < count; round += 1) {
    const before = chosen.length;
    for (const module of round === 0 ? first : later) {
      const next = chosen.length < count && pick(ranked.get(module) ?? [], chosen);
      if (next) {
        chosen.push(next);
      }
    }
    if (chosen.length === before) {
      break;
    }
  }
  return chosen;
}

/** A module's next mutation. Operators that the module has already had come last. */
function pick(ranked: readonly Mutation[], chosen: readonly Mutation[]): Mutation | undefined {
  const scopes = new Set(chosen.map(({ scope }) => scope));
  const free = ranked.filter(({ scope }) => !scopes.has(scope));
  const count = (list: readonly Mutation[], operator: OperatorName) =>
    list.filter((one) => one.operator === operator).length;
  const ofModule = chosen.filter(({ module }) => module === ranked[0]?.module);
  const preferred = [...operators].sort(
    (a, b) => count(ofModule, a) - count(ofModule, b) || count(chosen, a) - count(chosen, b),
  );
  return preferred
    .map((operator) => free.find((one) => one.operator === operator))
    .find((one) => one !== undefined);
}

/**
 * Pseudorandom and independent of other candidates, so that a changed source hardly changes the choice in
 * other sources.
 */
function rank(seed: number, name: string): string {
  return createHash("sha256").update(`${seed}:${name}`).digest("hex");
}

function sortBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[] {
  const keyed = items.map((item) => ({ item, key: keyOf(item) }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ item }) => item);
}
