/**
 * Pauses of long computations, in which the event loop serves requests.
 *
 * A computation awaits `pause` between steps of a few milliseconds. The computations of a process share `maxBusyMs` in each turn
 * of the event loop, and one of them goes on in a turn: many at once delay a request by one share, and not by their sum.
 */

/** A request takes several turns of the event loop, because it waits for the database. */
const maxBusyMs = 10;

/** The computations that wait for a turn, in the order of their calls. */
const waiting: (() => void)[] = [];

/** When the latest turn of a computation began. */
let since = Number.NEGATIVE_INFINITY;

/** Returns at once within the share of the present turn; afterwards, in a later turn of the event loop. */
export async function pause(): Promise<void> {
  if (performance.now() - since <= maxBusyMs) {
    return;
  }
  await new Promise<void>((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) {
      setImmediate(continueNext);
    }
  });
}

function continueNext(): void {
  const resolve = waiting.shift();
  if (waiting.length > 0) {
    setImmediate(continueNext);
  }
  since = performance.now();
  resolve?.();
}
