/** Sessions: an access token is valid while its user is active and its session has not been ended. */
import { fail } from "../../../../tools/errors.ts";
import type { Queries } from "../../../database/database.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import type { Caller, Session } from "../../foundation/kernel/index.ts";
import { selectToolRules } from "../rules/index.ts";

/** Releasing a plan asks for a sign-in that is not older. */
const recentHours = 12;

/**
 * Requires that the caller's session began with a password a short time ago: each session does.
 * @throws Failure `sign_in_again`.
 */
export async function requireRecentSignIn(db: Queries, { session }: Caller, now: Date): Promise<void> {
  const family = session?.family_id ?? null;
  const first =
    session &&
    (await ofOrganization(db, session.organization_id)
      .selectFrom("refresh_tokens")
      .select("created_at")
      .where("user_id", "=", session.user_id)
      .where("family_id", "=", family)
      .orderBy("id")
      .limit(1)
      .executeTakeFirst());
  if (!first || now.getTime() - Date.parse(first.created_at) > recentHours * 3_600_000) {
    throw fail("sign_in_again");
  }
}

/** The active user of a session, and the suspension of the organization; no row if the session has ended. */
export function selectSessionUser(db: Queries, session: Session) {
  const { organization_id, user_id, session_version, family_id } = session;
  return ofOrganization(db, organization_id)
    .selectFrom("users")
    .innerJoin("organizations", "organizations.id", "users.organization_id")
    .select(["users.id", "users.email", "users.name", "users.role", "organizations.suspended_at"])
    .select(selectToolRules("users.organization_id").as("rule_sets"))
    .where("users.id", "=", user_id)
    .where("users.session_version", "=", session_version)
    .where("users.is_active", "=", true)
    .$if(family_id !== null, (query) =>
      // Revocation marks every token of a family, so checking any one of them is enough.
      query.where(
        (row) =>
          row
            .selectFrom("refresh_tokens")
            .select("revoked_at")
            .where("organization_id", "=", organization_id)
            .where("family_id", "=", family_id)
            .limit(1),
        "is",
        null,
      ),
    );
}
