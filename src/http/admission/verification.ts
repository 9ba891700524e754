/**
 * Limits requests of routes without a credential that verify each request themselves, such as webhooks.
 *
 * A client that guesses paths is limited by its network and the route, because it can choose any path. Once a
 * network has guessed too many, its further look-ups run one at a time: guesses cost the database little, and
 * requests to existing paths are still accepted. Rejected requests to an existing path are limited by network
 * and path. A provider that signs with the wrong secret gets 429, and repeats its request later.
 */
import { Failure } from "../../../tools/contract/index.ts";
import type { Clock } from "../../ports/clock.ts";
import { applyAddressQuota, type Exchange, guessLimits } from "./admission.ts";
import { createAttemptWindows } from "./attempt-windows.ts";
import { createBoundedMap } from "./bounded-map.ts";
import { networkOf } from "./network.ts";
import { createTaskQueues } from "./task-queues.ts";

export interface Verification {
  /**
   * Checks a request before its body is read.
   * @throws Failure `rate_limited`, and the errors of `requireTarget`.
   */
  admit(exchange: Exchange, path: VerifiedPath): Promise<void>;
  /**
   * Runs the handler that verifies the request.
   * @throws Failure `rate_limited`, and the errors of the handler.
   */
  verify<Answer>(
    exchange: Exchange,
    path: Pick<VerifiedPath, "route" | "params">,
    handle: () => Promise<Answer>,
  ): Promise<Answer>;
}

export interface VerifiedPath {
  /** With placeholders. */
  readonly route: string;
  readonly params: Readonly<Record<string, string>>;
  /** Throws a Failure if nothing is at the path. */
  requireTarget(): Promise<void>;
}

export function createVerification(now: Clock): Verification {
  const rejections = createAttemptWindows(guessLimits, now);
  const guesses = createAttemptWindows(guessLimits, now);
  const runInTurn = createTaskQueues();
  /** Paths that were found before. They need no look-up: the handler looks them up again. */
  const known = createBoundedMap<true>();

  const requireFew = (exchange: Exchange, key: string): void => {
    if (rejections.isFull(key)) {
      applyAddressQuota(exchange, rejections.take(key));
    }
  };

  return {
    async admit(exchange, { route, params, requireTarget }) {
      const network = networkOf(exchange.address);
      const path = toKey(route, params);
      requireFew(exchange, `${network} ${path}`);
      if (known.get(path)) {
        return;
      }
      const key = `${network} ${route}`;
      await (guesses.isFull(key) ? runInTurn(key, requireTarget) : requireTarget()).catch((error) => {
        if (isRejection(error)) {
          applyAddressQuota(exchange, guesses.take(key));
        }
        throw error;
      });
      known.set(path, true);
    },
    async verify(exchange, { route, params }, handle) {
      const key = `${networkOf(exchange.address)} ${toKey(route, params)}`;
      // Again, because requests that arrived together may have been rejected meanwhile.
      requireFew(exchange, key);
      return handle().catch((error: unknown) => {
        if (isRejection(error)) {
          rejections.take(key);
        }
        throw error;
      });
    },
  };
}

/** The same for every spelling of a path. */
function toKey(route: string, params: VerifiedPath["params"]): string {
  return `${route} ${JSON.stringify(Object.values(params))}`;
}

function isRejection(error: unknown): boolean {
  return error instanceof Failure && error.status < 500;
}
