/**
 * Token buckets by key: a bucket gains tokens at a steady rate up to its size, and each request takes one.
 */
import type { Clock } from "../../ports/clock.ts";
import { createBoundedMap } from "./bounded-map.ts";

export interface RateLimits {
  /** Sustained requests per second for each credential. */
  readonly perSecond: number;
  /** Requests that a credential may make at once. */
  readonly burst: number;
}

/** The state of a limit after a request, in whole numbers. */
export interface Quota {
  readonly limit: number;
  readonly remaining: number;
  /** The time until `remaining` equals `limit` again. */
  readonly resetSeconds: number;
  /** The time until the request can succeed; 0 if it was allowed. */
  readonly waitSeconds: number;
}

export interface TokenBuckets {
  /** The most tokens in a bucket. */
  readonly size: number;
  /** Takes all of these tokens, or none if there are too few. */
  take(key: string, tokens: number): Quota;
  /**
   * Takes tokens that were spent elsewhere. The bucket may become negative and must then first gain the
   * missing tokens.
   */
  subtract(key: string, tokens: number): void;
}

export function createTokenBuckets({ perSecond, burst }: RateLimits, now: Clock): TokenBuckets {
  const size = Math.max(perSecond, burst);
  const buckets = createBoundedMap<{ readonly tokens: number; readonly at: number }>();

  const read = (key: string, time: number): number => {
    const { tokens, at } = buckets.get(key) ?? { tokens: size, at: time };
    // If the clock was set back, no tokens are added.
    return Math.min(size, tokens + (Math.max(0, time - at) * perSecond) / 1_000);
  };
  const secondsUntil = (wanted: number, tokens: number) =>
    Math.max(1, Math.ceil((wanted - tokens) / perSecond));

  return {
    size,
    take(key, tokens) {
      const time = now().getTime();
      const before = read(key, time);
      const isAllowed = before >= tokens;
      const after = isAllowed ? before - tokens : before;
      buckets.set(key, { tokens: after, at: time });
      return {
        limit: perSecond,
        remaining: Math.min(perSecond, Math.max(0, Math.floor(after))),
        resetSeconds: secondsUntil(perSecond, after),
        waitSeconds: isAllowed ? 0 : secondsUntil(tokens, before),
      };
    },
    subtract(key, tokens) {
      const time = now().getTime();
      buckets.set(key, { tokens: read(key, time) - tokens, at: time });
    },
  };
}
