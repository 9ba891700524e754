/** Wakes a sleeping loop: a ring ends the wait that is on, or the next one. */

export interface Bell {
  ring(): void;
  /** Forgets the rings so far: what they told is about to be looked at. */
  hush(): void;
  /** Waits until it rings, at most this long, and says whether it rang. */
  wait(ms: number): Promise<boolean>;
}

export function createBell(): Bell {
  let hasRung = false;
  let wake: (() => void) | undefined;
  return {
    ring() {
      hasRung = true;
      wake?.();
    },
    hush() {
      hasRung = false;
    },
    async wait(ms) {
      if (!hasRung && ms > 0) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        wake = undefined;
      }
      return hasRung;
    },
  };
}
