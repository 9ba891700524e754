/** What stands before every operation: whose credential it is, and how often it may ask. */
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
  /** Requests a second that a credential may make for long. */
  readonly perSecond: number;
  /** Requests that it may make at once. */
  readonly burst: number;
}

/** How long the extra of a burst takes to come back. */
const burstSeconds = 10;

/** Limits requests by credential, or by address where there is none. */
export function createRateLimit({ perSecond, burst }: RateLimits) {
  const steady = new RateLimiterMemory({ points: perSecond, duration: 1 });
  const extra = new RateLimiterMemory({
    keyPrefix: "burst",
    points: Math.max(0, burst - perSecond),
    duration: burstSeconds,
  });
  const limiter = new BurstyRateLimiter(steady, extra);
  /** Credentials that were none, by address: whoever guesses is not looked up for long. */
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
  /** Notes that a request's credential was none. */
  const noteFailure = async (request: FastifyRequest): Promise<void> => {
    await failures.consume(request.ip).catch(toRejectedState);
  };
  return { limit, noteFailure };
}

/** Passwords are guessed at: few tries for an address, and for an account wherever they come from. */
export function createLoginLimit() {
  const byAddress = new RateLimiterMemory({ keyPrefix: "login-ip", points: 5, duration: 5 * 60 });
  const byAccount = new RateLimiterMemory({ keyPrefix: "login-account", points: 10, duration: 15 * 60 });

  return async (request: FastifyRequest): Promise<void> => {
    const { email } = (request.body ?? {}) as { email?: unknown };
    const address: LimiterState = await byAddress.consume(request.ip).catch(toRejectedState);
    // An address that is refused uses up no account's tries: it would lock out whom it likes.
    const account = hash(String(email).trim().toLowerCase());
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
