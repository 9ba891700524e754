/** Guards in front of every operation: rate limits and the idempotency key. */
import { createHash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { BurstyRateLimiter, RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { readCredential } from "../../tools/contract/index.ts";
import { fail } from "../../tools/errors.ts";

/** @throws Failure `invalid_idempotency_key`. */
export function readIdempotencyKey(headers: FastifyRequest["headers"]): string | undefined {
  const key = headers["idempotency-key"];
  if (key === undefined) {
    return undefined;
  }
  if (typeof key !== "string" || key.length < 1 || key.length > 255) {
    throw fail("invalid_idempotency_key", { param: "Idempotency-Key" });
  }
  return key;
}

export interface RateLimits {
  /** Sustained requests a second for each credential. */
  readonly perSecond: number;
  /** Requests that a credential may make at once. */
  readonly burst: number;
}

/** How long a burst takes to be replenished. */
const burstSeconds = 10;

/** Limits requests by credential, or by IP address without one. */
export function createRateLimit({ perSecond, burst }: RateLimits) {
  const steady = new RateLimiterMemory({ points: perSecond, duration: 1 });
  const extra = new RateLimiterMemory({
    keyPrefix: "burst",
    points: Math.max(0, burst - perSecond),
    duration: burstSeconds,
  });
  const limiter = new BurstyRateLimiter(steady, extra);
  /** Failed authentications by IP address: saves the look-ups of a client that guesses. */
  const failures = new RateLimiterMemory({ keyPrefix: "failed", points: perSecond, duration: 1 });

  const limit = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const credential = readCredential(request.headers);
    const isAnonymous = credential === undefined || request.routeOptions.config.credential === "none";
    const failedAttempts = isAnonymous ? null : await failures.get(request.ip);
    const state: LimiterState =
      failedAttempts && failedAttempts.remainingPoints <= 0
        ? { ...failedAttempts, isRejected: true }
        : await limiter.consume(isAnonymous ? request.ip : hash(credential)).catch(toRejectedState);
    reply.header("ratelimit-limit", String(perSecond));
    reply.header("ratelimit-remaining", String(Math.max(0, state.remainingPoints)));
    reply.header("ratelimit-reset", String(retrySeconds(state)));
    if (state.isRejected) {
      throw fail("rate_limited", { retry_after: retrySeconds(state) });
    }
  };
  /** Counts a request whose credential was invalid. */
  const countFailure = async (request: FastifyRequest): Promise<void> => {
    await failures.consume(request.ip).catch(toRejectedState);
  };
  return { limit, countFailure };
}

/** Limits password attempts by IP address, and by account from any address. */
export function createLoginLimit() {
  const byAddress = new RateLimiterMemory({ keyPrefix: "login-ip", points: 5, duration: 5 * 60 });
  const byAccount = new RateLimiterMemory({ keyPrefix: "login-account", points: 10, duration: 15 * 60 });

  return async (request: FastifyRequest): Promise<void> => {
    const { email } = (request.body ?? {}) as { email?: unknown }; // any JSON: a member may be missing
    const address: LimiterState = await byAddress.consume(request.ip).catch(toRejectedState);
    // A limited address must not use up an account's attempts: it could lock any account out.
    // A value that is not a text is rejected later; converting it could throw.
    const account = hash(typeof email === "string" ? email.trim().toLowerCase() : "");
    const state: LimiterState = address.isRejected
      ? address
      : await byAccount.consume(account).catch(toRejectedState);
    if (state.isRejected) {
      throw fail("rate_limited", { retry_after: retrySeconds(state) });
    }
  };
}

interface LimiterState {
  readonly remainingPoints: number;
  readonly msBeforeNext: number;
  readonly isRejected?: boolean;
}

function toRejectedState(reason: unknown): LimiterState {
  if (reason instanceof RateLimiterRes) {
    return { remainingPoints: 0, msBeforeNext: reason.msBeforeNext, isRejected: true };
  }
  throw reason;
}

function retrySeconds({ msBeforeNext }: LimiterState): number {
  return Math.max(1, Math.ceil(msBeforeNext / 1000));
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
