/**
 * Pauses of long computations, in which the event loop serves requests.
 *
 * A computation awaits `pause` between steps of a few milliseconds. All computations of a process share
 * `maxBusyMs` per turn of the event loop, and only one of them continues in a turn. So many computations at
 * once delay a request by one share, and not by the sum of their shares.
 */

/** Short, because a request takes several turns of the event loop: it waits for the database. */
const maxBusyMs = 10;

/** The computations that wait for a turn, in the order of their calls. */
const waiting: (() => void)[] = [];

/** When the latest turn of a computation began. */
let since = Number.NEGATIVE_INFINITY;

/** Returns at once within the share of the present turn, and otherwise in a later turn of the event loop. */
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
