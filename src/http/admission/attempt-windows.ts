/** Counts attempts by key in windows of a fixed length. A window begins with its first attempt. */
import type { Clock } from "../../ports/clock.ts";
import { createBoundedMap } from "./bounded-map.ts";
import type { Quota } from "./token-buckets.ts";

export interface AttemptWindows {
  /** Whether the next attempt exceeds the limit. */
  isFull(key: string): boolean;
  /** Counts an attempt, unless it exceeds the limit. */
  take(key: string): Quota;
}

export interface WindowLimits {
  readonly limit: number;
  readonly seconds: number;
}

export function createAttemptWindows({ limit, seconds }: WindowLimits, now: Clock): AttemptWindows {
  const windows = createBoundedMap<{ readonly count: number; readonly endsAt: number }>();

  const read = (key: string) => {
    const time = now().getTime();
    const window = windows.get(key);
    return window && time < window.endsAt ? window : { count: 0, endsAt: time + seconds * 1_000 };
  };

  return {
    isFull: (key) => read(key).count >= limit,
    take(key) {
      const { count, endsAt } = read(key);
      const isAllowed = count < limit;
      if (isAllowed) {
        windows.set(key, { count: count + 1, endsAt });
      }
      const resetSeconds = Math.ceil((endsAt - now().getTime()) / 1_000);
      const remaining = Math.max(0, limit - count - 1);
      return { limit, remaining, resetSeconds, waitSeconds: isAllowed ? 0 : resetSeconds };
    },
  };
}
