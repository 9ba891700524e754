/**
 * A signal that wakes a waiting loop. It stays set until it is cleared, so a signal that is set before the
 * wait is not lost.
 */

export interface Signal {
  set(): void;
  clear(): void;
  /** Waits until the signal is set, at most for this time. Returns whether it is set. */
  wait(ms: number): Promise<boolean>;
}

export function createSignal(): Signal {
  let isSet = false;
  let wake: (() => void) | undefined;
  return {
    set() {
      isSet = true;
      wake?.();
    },
    clear() {
      isSet = false;
    },
    async wait(ms) {
      if (!isSet && ms > 0) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        wake = undefined;
      }
      return isSet;
    },
  };
}
