/**
 * Joins rankings of different searches, whose scores can't be compared, and computes how relevant a result
 * is.
 *
 * Each ranking maps its scores linearly to 0..1: 1 is its best result, 0 is its floor. The fused score is the
 * weighted mean over all rankings; a result that is missing in a ranking gets 0 there. So a result that is
 * far ahead in one ranking stays first, which ranks alone would not achieve. The fused score orders results;
 * it does not say whether they answer the question: the best of useless results is first too.
 */
import type { ScoredId } from "./vectors.ts";

/** Best first, each id once, with positive scores. */
export interface Ranking {
  readonly results: readonly ScoredId[];
  /**
   * The score that counts as 0: zero, or the `lowest` score of the ranking if the scores of a model lie in a
   * narrow range.
   */
  readonly floor: "zero" | "lowest";
  /** The weight relative to the other rankings. */
  readonly weight: number;
}

/** Results with equal scores keep the order of the first ranking that contains them. */
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
  // If all scores are equal, all results count as the best.
  const lowest = floor === "lowest" && last < highest ? last : 0;
  const range = highest - lowest || 1;
  return new Map(results.map(({ id, score }) => [id, (score - lowest) / range]));
}

/**
 * Converts a cosine to a relevance from 0 to 1: 1 is the same meaning for the model, 0 is nothing in common
 * or the opposite. Which value means "related" depends on the model.
 */
export function relevanceOf({ score }: Pick<ScoredId, "score">): number {
  return Math.min(1, Math.max(0, score));
}
