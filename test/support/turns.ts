/** Counts the turns of the event loop that pass while something is computed. */
import { performance } from "node:perf_hooks";
import { vi } from "vitest";

// It never goes back, as the real one, which other files of the same process have read since.
let time = Number.NEGATIVE_INFINITY;

/** Each reading of the time is a second later, so that each pause lets the event loop go on. */
export async function countTurns<Result>(
  compute: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly turns: number }> {
  time = Math.max(time, performance.now());
  const clock = vi.spyOn(performance, "now").mockImplementation(() => {
    time += 1_000;
    return time;
  });
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns += 1;
    if (!isOver) {
      setImmediate(count);
    }
  };
  setImmediate(count);
  try {
    return { result: await compute(), turns };
  } finally {
    isOver = true;
    clock.mockRestore();
  }
}
