/** Limits on what an organization may have. */
import { fail } from "../../../tools/errors.ts";

interface Quota {
  /** In the plural, for the message. */
  readonly thing: string;
  readonly setting: string;
  readonly limit: number;
}

/**
 * Two calls at once must not both pass: lock the organization before counting.
 * @throws Failure `quota_exceeded` if the organization has the limit already.
 */
export function requireBelowQuota(count: number, { thing, setting, limit }: Quota): void {
  if (count >= limit) {
    throw fail("quota_exceeded", { limit, thing, setting });
  }
}
