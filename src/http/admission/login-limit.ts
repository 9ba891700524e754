/** Limits password attempts by IP address, and by account from any address. */
import { createHash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../../ports/clock.ts";
import { applyQuota } from "./admission.ts";
import { createAttemptWindows } from "./attempt-windows.ts";
import { createBoundedMap } from "./bounded-map.ts";
import { networkOf } from "./network.ts";

export interface LoginLimit {
  /** Counts the attempt and shows the nearer limit in the headers. @throws Failure `rate_limited`. */
  check(request: FastifyRequest, reply: FastifyReply): void;
  /** Remembers that the request's address signed in to the account. */
  remember(request: FastifyRequest): void;
}

export function createLoginLimit(now: Clock): LoginLimit {
  const byAddress = createAttemptWindows({ limit: 5, seconds: 5 * 60 }, now);
  const byAccount = createAttemptWindows({ limit: 10, seconds: 15 * 60 }, now);
  /** Addresses that signed in to an account: attempts from elsewhere do not lock them out of it. */
  const succeeded = createBoundedMap<true>();

  return {
    check(request, reply) {
      const account = accountOf(request);
      const network = networkOf(request.ip);
      // A limited address must not use up an account's attempts: it could lock any account out.
      const ofAddress = byAddress.take(network);
      const isExempt = ofAddress.waitSeconds > 0 || succeeded.get(`${network} ${account}`);
      const ofAccount = isExempt ? ofAddress : byAccount.take(account);
      const isAccountNearer = ofAccount.waitSeconds > 0 || ofAccount.remaining < ofAddress.remaining;
      const setHeader = (name: string, value: string) => reply.header(name, value);
      applyQuota({ setHeader }, isAccountNearer ? ofAccount : ofAddress);
    },
    remember(request) {
      succeeded.set(`${networkOf(request.ip)} ${accountOf(request)}`, true);
    },
  };
}

/** A hash, so that no address is kept and a long text takes no memory. */
function accountOf({ body }: FastifyRequest): string {
  const { email } = (body ?? {}) as { email?: unknown }; // any JSON: a member may be missing
  // A value that is not a text is rejected later; converting it could throw.
  const text = typeof email === "string" ? email.trim().toLowerCase() : "";
  return createHash("sha256").update(text).digest("base64url");
}
