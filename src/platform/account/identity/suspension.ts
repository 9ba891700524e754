/** Suspended organizations: all their credentials are rejected, with an error of its own. */
import { fail } from "../../../../tools/errors.ts";
import type { Queries } from "../../../database/database.ts";

interface Suspension {
  readonly suspended_at: string | null;
}

/** @throws Failure `organization_suspended`. */
export function requireNotSuspended({ suspended_at }: Suspension): void {
  if (suspended_at !== null) {
    throw fail("organization_suspended");
  }
}

/**
 * Like `requireNotSuspended`, for an organization that has not been read yet.
 * @throws Failure `organization_suspended`.
 */
export async function requireActiveOrganization(db: Queries, organization: string): Promise<void> {
  requireNotSuspended(
    await db
      .selectFrom("organizations")
      .select("suspended_at")
      .where("id", "=", organization)
      .executeTakeFirstOrThrow(),
  );
}
