/**
 * Joins rankings of different searches, whose scores can't be compared, and says how relevant a result is.
 *
 * Each ranking maps its scores linearly to 0..1: 1 is its best result, 0 is its floor. The fused score is the weighted mean
 * over all rankings; a result that a ranking does not have gets 0 of it. A result that is far ahead of the others in one ranking so
 * stays first, which ranks alone would not show. The fused score orders results; it does not say whether they answer the
 * question: the best of useless results is first too.
 */
import type { ScoredId } from "./vectors.ts";

/** The best first, each id once, positive scores. */
export interface Ranking {
  readonly results: readonly ScoredId[];
  /** The score that is worth nothing: 0, or `lowest` where all scores of a model lie in a narrow range. */
  readonly floor: "zero" | "lowest";
  /** What it counts, compared with the others. */
  readonly weight: number;
}

/** Equal scores are in the order of the first ranking that has them. */
export function fuseRankings(rankings: readonly Ranking[]): ScoredId[] {
  const shares = rankings.map((ranking) => ({ share: toShares(ranking), weight: ranking.weight }));
  const whole = rankings.reduce((sum, { weight }) => sum + weight, 0);
  const ids = [...new Set(rankings.flatMap(({ results }) => results.map(({ id }) => id)))];
  return ids
    .map((id) => {
      const sum = shares.reduce((total, { share, weight }) => total + weight * (share.get(id) ?? 0), 0);
      return { id, score: sum / whole };
    })
    .sort((one, other) => other.score - one.score);
}

function toShares({ results, floor }: Ranking): ReadonlyMap<string, number> {
  const highest = results[0]?.score ?? 0;
  const last = results.at(-1)?.score ?? 0;
  // Equal scores are all the best.
  const lowest = floor === "lowest" && last < highest ? last : 0;
  const range = highest - lowest || 1;
  return new Map(results.map(({ id, score }) => [id, (score - lowest) / range]));
}

/**
 * A cosine as a relevance from 0 to 1: 1 is the same meaning as the model sees it, 0 is none in common or the opposite.
 * Which value means "related" depends on the model.
 */
export function relevanceOf({ score }: Pick<ScoredId, "score">): number {
  return Math.min(1, Math.max(0, score));
}
