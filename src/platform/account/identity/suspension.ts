/** Suspended organizations: every credential of one is rejected, with an error of its own. */
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

export function selectSuspension(db: Queries, organization: string) {
  return db.selectFrom("organizations").select("suspended_at").where("id", "=", organization);
}
