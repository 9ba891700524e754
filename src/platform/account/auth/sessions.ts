/** Sessions: an access token is valid while its user is active and its session has not been ended. */
import { fail } from "../../../../tools/errors.ts";
import type { Queries } from "../../../database/database.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import type { Caller, Session } from "../../foundation/kernel/index.ts";
import { selectToolRules } from "../rules/index.ts";

/** Releasing a plan asks for a sign-in that is not older. */
const recentHours = 12;

/**
 * Requires that the caller's session began with a password a short time ago.
 * @throws Failure `sign_in_again`.
 */
export async function requireRecentSignIn(db: Queries, { session }: Caller, now: Date): Promise<void> {
  const startedAt = session && (await findPasswordSignIn(db, session));
  if (!startedAt || now.getTime() - Date.parse(startedAt) > recentHours * 3_600_000) {
    throw fail("sign_in_again");
  }
}

/** When the session began with a password; undefined if it did not. */
async function findPasswordSignIn(db: Queries, session: Session): Promise<string | undefined> {
  const { organization_id, user_id, family_id } = session;
  const first = await ofOrganization(db, organization_id)
    .selectFrom("refresh_tokens")
    .select("created_at")
    .where("user_id", "=", user_id)
    .where("family_id", "=", family_id)
    .orderBy("id")
    .limit(1)
    .executeTakeFirst();
  const ofConsole = await ofOrganization(db, organization_id)
    .selectFrom("console_sessions")
    .select("created_at")
    .where("user_id", "=", user_id)
    .where("id", "=", family_id)
    .where("signed_in_by", "=", "password")
    .executeTakeFirst();
  return (first ?? ofConsole)?.created_at;
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
    )
    .$if(family_id !== null, (query) =>
      query.where((row) =>
        row.not(
          row.exists(
            row
              .selectFrom("console_sessions")
              .select("id")
              .where("organization_id", "=", organization_id)
              .where("id", "=", family_id)
              .where("ended_at", "is not", null),
          ),
        ),
      ),
    );
}
