/**
 * Joins rankings of different searches, whose scores can't be compared, and says how relevant a result is.
 *
 * Reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009): each ranking gives 1 / (60 + rank) to each of its results.
 * The fused score orders results and says how well they are placed, not whether they answer the question: the best of
 * useless results is first too. Whether a result is near the question is said by its similarity.
 */
import type { ScoredId } from "./vectors.ts";

/** Of the publication: first places count a little more than second ones, far places still a little. */
const rankOffset = 60;

export interface FusedResult {
  readonly id: string;
  /**
   * From 0 to 1, the share of the best possible score: 1 is the first place in every ranking; of two rankings, the first
   * place in one and no place in the other is 0.5. Lower places in all rankings have more than that.
   */
  readonly score: number;
  /** Its place in each ranking, from 1; null if it has none. */
  readonly ranks: readonly (number | null)[];
}

/** Rankings are ids in order, the best first, each once. Equal scores are in the order of the first places. */
export function fuseRankings(rankings: readonly (readonly string[])[]): FusedResult[] {
  const positions = rankings.map((ids) => new Map(ids.map((id, index) => [id, index + 1])));
  const best = rankings.length / (rankOffset + 1);
  const fuse = (id: string): FusedResult => {
    const ranks = positions.map((ranking) => ranking.get(id) ?? null);
    const score = ranks.reduce<number>((sum, rank) => sum + (rank === null ? 0 : 1 / (rankOffset + rank)), 0);
    return { id, score: score / best, ranks };
  };
  const ids = [...new Set(rankings.flat())];
  return ids.map(fuse).sort((one, other) => other.score - one.score || bestRank(one) - bestRank(other));
}

function bestRank({ ranks }: FusedResult): number {
  return Math.min(...ranks.map((rank) => rank ?? Number.POSITIVE_INFINITY));
}

/**
 * A cosine as a relevance from 0 to 1: 1 is the same meaning as the model sees it, 0 is none in common or the opposite.
 * Which value means "related" depends on the model.
 */
export function relevanceOf({ score }: Pick<ScoredId, "score">): number {
  return Math.min(1, Math.max(0, score));
}
