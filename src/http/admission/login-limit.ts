/** Limits password attempts by IP address, and by account from any address. */
import { createHash } from "node:crypto";
import type { Clock } from "../../ports/clock.ts";
import { applyQuota, type Exchange } from "./admission.ts";
import { createAttemptWindows } from "./attempt-windows.ts";
import { createBoundedMap } from "./bounded-map.ts";
import { networkOf } from "./network.ts";

export interface LoginAttempt extends Pick<Exchange, "address" | "setHeader"> {
  /** The parsed body. */
  readonly input: unknown;
}

export interface LoginLimit {
  /**
   * Counts the attempt and shows the stricter of the two limits in the headers.
   * @throws Failure `rate_limited`.
   */
  check(attempt: LoginAttempt): void;
  /** Remembers that the address signed in to the account. */
  remember(attempt: Omit<LoginAttempt, "setHeader">): void;
}

export function createLoginLimit(now: Clock): LoginLimit {
  const byAddress = createAttemptWindows({ limit: 5, seconds: 5 * 60 }, now);
  const byAccount = createAttemptWindows({ limit: 10, seconds: 15 * 60 }, now);
  /**
   * Addresses that have signed in to an account. Attempts from other addresses do not lock them out of the
   * account.
   */
  const succeeded = createBoundedMap<true>();

  return {
    check({ address, input, setHeader }) {
      const account = accountOf(input);
      const network = networkOf(address);
      // A limited address must not use up an account's attempts: otherwise it could lock any account out.
      const ofAddress = byAddress.take(network);
      const isExempt = ofAddress.waitSeconds > 0 || succeeded.get(`${network} ${account}`);
      const ofAccount = isExempt ? ofAddress : byAccount.take(account);
      const isAccountNearer = ofAccount.waitSeconds > 0 || ofAccount.remaining < ofAddress.remaining;
      applyQuota({ setHeader }, isAccountNearer ? ofAccount : ofAddress);
    },
    remember({ address, input }) {
      succeeded.set(`${networkOf(address)} ${accountOf(input)}`, true);
    },
  };
}

/**
 * A hash, so that no e-mail address is kept and a long text takes no memory. A link, which names no account,
 * counts as one of its own.
 */
function accountOf(input: unknown): string {
  const { email, token } = (input ?? {}) as { email?: unknown; token?: unknown }; // any JSON
  // A value that is not a text is rejected later; converting it could throw.
  const text =
    [email, token]
      .find((value) => typeof value === "string")
      ?.trim()
      .toLowerCase() ?? "";
  return createHash("sha256").update(text).digest("base64url");
}
