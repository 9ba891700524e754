/**
 * Admits requests: identifies the sender of each request, and rejects requests over a limit.
 *
 * A request with a valid credential counts towards the limit of the credential's id, whatever its spelling. A
 * request without a credential counts towards the limit of its address. Unknown credentials, and only these,
 * are also limited by address: once an address has sent too many, its look-ups run one at a time, so that
 * guesses cost the database little, and valid credentials from the address are still accepted.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { Failure, readCredential } from "../../../tools/contract/index.ts";
import { fail, failCredential } from "../../../tools/errors.ts";
import type { Platform } from "../../platform/index.ts";
import type { Clock } from "../../ports/clock.ts";
import { type AttemptWindows, createAttemptWindows } from "./attempt-windows.ts";
import { createBoundedMap } from "./bounded-map.ts";
import { networkOf } from "./network.ts";
import { createTaskQueues } from "./task-queues.ts";
import { createTokenBuckets, type Quota, type RateLimits } from "./token-buckets.ts";

export type AdmittedCaller = Awaited<ReturnType<Platform["authenticate"]>>;

/** A request and the headers of its response, in either transport. */
export interface Exchange {
  readonly headers: IncomingHttpHeaders;
  readonly address: string;
  setHeader(name: string, value: string): void;
}

export interface Admission {
  /** Counts a request without a credential. @throws Failure `rate_limited`. */
  countAnonymous(exchange: Exchange): void;
  /**
   * Returns the caller and counts one request.
   * @throws Failure `credential_missing`, `credential_invalid`, `rate_limited`.
   */
  identify(exchange: Exchange): Promise<AdmittedCaller>;
  /**
   * Checks the operator's key and counts one request.
   * @throws Failure `operator_key_required`, `rate_limited`.
   */
  identifyOperator(exchange: Exchange): void;
  /** For a request with several messages, which are counted one by one. */
  forMessages(exchange: Exchange): MessageAdmission;
}

export interface MessageAdmission {
  /** The most messages of a request: the number that a credential may send at once. */
  readonly maxMessages: number;
  /**
   * Finds the caller and counts one message; `count` counts further messages.
   * @throws Failure as `Admission.identify`.
   */
  identify(): Promise<{
    readonly caller: AdmittedCaller;
    count(messages: number): void;
  }>;
}

export interface AdmissionOptions {
  readonly rateLimits: RateLimits;
  readonly platform: Pick<Platform, "authenticate" | "sharedUse">;
  readonly now: Clock;
  /** The operator's key. If it is undefined, no route requires it. */
  readonly operatorKey?: string | undefined;
}

export const guessLimits = { limit: 30, seconds: 60 };

export function createAdmission({ rateLimits, platform, now, operatorKey }: AdmissionOptions): Admission {
  const { sharedUse } = platform;
  const credentials = createTokenBuckets(rateLimits, now);
  const addresses = createTokenBuckets(rateLimits, now);
  sharedUse.onOthers(credentials.subtract);
  const guesses = createAttemptWindows(guessLimits, now);
  const lookUp = createLookUp(platform, guesses);
  const isOperatorKey = createKeyCheck(operatorKey);

  const count = (exchange: Exchange, id: string, points: number): void => {
    applyQuota(exchange, credentials.take(id, points));
    sharedUse.add(id, points);
  };
  const countAnonymous = (exchange: Exchange): void =>
    applyAddressQuota(exchange, addresses.take(networkOf(exchange.address), 1));

  const identify = async (exchange: Exchange): Promise<AdmittedCaller> => {
    const credential = readCredential(exchange.headers);
    if (credential === undefined) {
      countAnonymous(exchange);
      throw failCredential(exchange.headers);
    }
    return lookUp(exchange, credential, (id) => count(exchange, id, 1));
  };

  return {
    countAnonymous,
    identify,
    identifyOperator(exchange) {
      const credential = readCredential(exchange.headers);
      if (credential === undefined) {
        countAnonymous(exchange);
      } else if (isOperatorKey(credential)) {
        count(exchange, "operator", 1);
        return;
      } else {
        applyAddressQuota(exchange, guesses.take(networkOf(exchange.address)));
      }
      throw fail("operator_key_required");
    },
    forMessages: (exchange) => ({
      maxMessages: credentials.size,
      async identify() {
        const caller = await identify(exchange);
        return { caller, count: (messages) => count(exchange, caller.credential.id, messages) };
      },
    }),
  };
}

/**
 * Returns the function that looks up a credential and calls `count` with the credential's id. If this
 * spelling was valid earlier, `count` is called before the look-up, so that requests over the limit cost no
 * look-up.
 */
function createLookUp(platform: Pick<Platform, "authenticate">, guesses: AttemptWindows) {
  const runInTurn = createTaskQueues();
  /**
   * Ids of credentials by the hash of a spelling. An id selects only a bucket: whether the credential is
   * valid is looked up each time.
   */
  const knownIds = createBoundedMap<string>();

  return async (
    exchange: Exchange,
    credential: string,
    count: (id: string) => void,
  ): Promise<AdmittedCaller> => {
    const spelling = createHash("sha256").update(credential).digest("base64url");
    const network = networkOf(exchange.address);
    const knownId = knownIds.get(spelling);
    if (knownId !== undefined) {
      count(knownId);
    }
    const authenticate = () => platform.authenticate(credential);
    const isInTurn = knownId === undefined && guesses.isFull(network);
    const caller = await (isInTurn ? runInTurn(network, authenticate) : authenticate()).catch((error) => {
      if (error instanceof Failure && error.status === 401) {
        knownIds.delete(spelling);
        applyAddressQuota(exchange, guesses.take(network));
      } else if (knownId === undefined && isSuspension(error)) {
        // Valid, but of a suspended organization: not a guess, and limited like a credential.
        knownIds.set(spelling, spelling);
        count(spelling);
      }
      throw error;
    });
    if (knownId !== caller.credential.id) {
      knownIds.set(spelling, caller.credential.id);
      count(caller.credential.id);
    }
    return caller;
  };
}

function isSuspension(error: unknown): boolean {
  return error instanceof Failure && error.code === "organization_suspended";
}

/** Compares digests of the same length in constant time, so that the time reveals nothing about the key. */
function createKeyCheck(key: string | undefined): (credential: string) => boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  const expected = key === undefined ? undefined : digest(key);
  return (credential) => expected !== undefined && timingSafeEqual(digest(credential), expected);
}

/**
 * Also closes the connection of a request over the limit: the next ten thousand requests may be in the same
 * packets.
 */
export function applyAddressQuota(exchange: Exchange, quota: Quota): void {
  if (quota.waitSeconds > 0) {
    exchange.setHeader("connection", "close");
  }
  applyQuota(exchange, quota);
}

/** Shows the limit in the headers. @throws Failure `rate_limited` if the limit is exceeded. */
export function applyQuota(
  { setHeader }: Pick<Exchange, "setHeader">,
  { limit, remaining, resetSeconds, waitSeconds }: Quota,
): void {
  setHeader("ratelimit-limit", String(limit));
  setHeader("ratelimit-remaining", String(remaining));
  setHeader("ratelimit-reset", String(resetSeconds));
  if (waitSeconds > 0) {
    throw fail("rate_limited", { retry_after: waitSeconds });
  }
}
