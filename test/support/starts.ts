/** Random sequences of starts, and how many are in a second. */

/** The most starts in any second, wherever it begins. */
export function mostInASecond(starts: readonly number[]): number {
  const sorted = starts.toSorted((a, b) => a - b);
  let first = 0;
  return Math.max(
    ...sorted.map((at, index) => {
      while ((sorted[first] ?? 0) <= at - 1_000) {
        first += 1;
      }
      return index - first + 1;
    }),
  );
}

/** A generator of pseudorandom numbers from 0 to 1, the same for the same seed. */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
