/** Counts the turns of the event loop that pass while something is computed. */
import { performance } from "node:perf_hooks";
import { vi } from "vitest";

/**
 * The latest time that was read: as the real one, the time never goes back, also from one
 * computation to the next.
 */
let time = 0;

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
