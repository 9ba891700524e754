/** How often tests repeat random sequences, crashes and long properties: some times by default, more with SOAK=1. */

/** The rules that are tested are the same; only the number of iterations differs. */
export const iterations = (few: number, many: number): number => (process.env.SOAK ? many : few);
