/**
 * How often tests repeat random sequences, crashes and long properties: some times by
 * default, more with SOAK=1.
 */

/** The rules that are tested are the same; only the number of iterations differs. */
export const iterations = (few: number, many: number): number => (process.env.SOAK ? many : few);

/**
 * The same for fast-check, which repeats one seed by default; with SOAK it draws one, and prints
 * it when a run fails.
 */
export const randomRuns = (few: number, many: number, seed = 1) =>
  process.env.SOAK ? { numRuns: many } : { numRuns: few, seed };
