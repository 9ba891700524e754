/**
 * Search by meaning: the vectors of an organization in memory, exact search, and the fusion with other
 * rankings.
 */
export {
  createVectorCache,
  type LoadVectors,
  type VectorCache,
  type VectorCacheOptions,
  type VectorKey,
  type VectorRequest,
} from "./cache.ts";
export { fuseRankings, type Ranking, relevanceOf } from "./fusion.ts";
export {
  encodeVector,
  meanScore,
  packVectors,
  type ScoredId,
  type StoredVector,
  searchVectors,
  type VectorSet,
} from "./vectors.ts";
