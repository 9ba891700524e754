/** Sessions: an access token is valid while its user is active and its session has not been ended. */
import type { Queries } from "../../../database/database.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import type { Session } from "../../foundation/kernel/index.ts";
import { selectToolRules } from "../rules/index.ts";

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
