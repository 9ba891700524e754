/**
 * How many jobs may be taken now, so that no lane keeps another waiting.
 *
 * One lane has at most `concurrency` jobs in flight in this process. In all there is room for four lanes of
 * that size; the last quarter is kept for lanes that have nothing in flight, one job each. So a lane whose
 * jobs all hang costs the others nothing, and it takes some twenty such lanes to fill the house.
 */

/** What one claim may take. */
export interface Share {
  /** Jobs in all. */
  readonly limit: number;
  /** Jobs that one lane may have in flight, those already in flight included. */
  readonly perLane: number;
  /** Jobs in flight by lane. */
  readonly inFlight: Readonly<Record<string, number>>;
}

export function shareOut(lanesInFlight: readonly string[], concurrency: number): Share {
  const free = 4 * concurrency - lanesInFlight.length;
  const inFlight = countByLane(lanesInFlight);
  if (free <= concurrency) {
    return { limit: free, perLane: 1, inFlight };
  }
  return { limit: free - concurrency, perLane: concurrency, inFlight };
}

function countByLane(lanes: readonly string[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const lane of lanes) {
    counts.set(lane, (counts.get(lane) ?? 0) + 1);
  }
  return Object.fromEntries(counts);
}
