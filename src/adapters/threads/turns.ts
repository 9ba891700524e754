/** Lets a number of callers run at once. */

export interface Turns {
  /** Runs `run` when it is this caller's turn. */
  take<Result>(run: () => Promise<Result>): Promise<Result>;
}

/** Lets `count` callers run at once; further callers wait in order. */
export function createTurns(count: number): Turns {
  const waiting: (() => void)[] = [];
  let free = count;
  const end = () => {
    const next = waiting.shift();
    if (next) {
      // The turn is passed directly to the next waiting caller, so that a new caller can't take it.
      next();
    } else {
      free += 1;
    }
  };
  return {
    async take(run) {
      if (free === 0) {
        await new Promise<void>((resolve) => waiting.push(resolve));
      } else {
        free -= 1;
      }
      try {
        return await run();
      } finally {
        end();
      }
    },
  };
}
