/** Authenticates a credential: an API key, found by its hash, or a user's access token. */

import { fail } from "../../../../tools/errors.ts";
import type { Queries } from "../../../database/database.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import type { Caller, World } from "../../foundation/kernel/index.ts";
import { findKey, scopesOfKey } from "../api-keys/index.ts";
import { readAccessToken, requireNotSuspended, roleScopes } from "../identity/index.ts";
import { readBoundRules, selectToolRules } from "../rules/index.ts";
import { selectSessionUser } from "./sessions.ts";

/**
 * @throws Failure `credential_invalid` for unknown, revoked and expired credentials alike;
 * `organization_suspended` for a valid credential of a suspended organization.
 */
export async function authenticate(world: World, credential: string): Promise<Caller> {
  return credential.startsWith("sk_")
    ? authenticateKey(world, credential)
    : authenticateToken(world, credential);
}

/**
 * An active user of an organization that is not suspended, as the caller of what the user has released
 * earlier; undefined if there is none.
 */
export async function findPerson(
  db: Queries,
  organization_id: string,
  id: string,
): Promise<Caller | undefined> {
  const found = await ofOrganization(db, organization_id)
    .selectFrom("users")
    .innerJoin("organizations", "organizations.id", "users.organization_id")
    .select(["users.id", "users.email", "users.name", "users.role"])
    .select(selectToolRules("users.organization_id").as("rule_sets"))
    .where("users.id", "=", id)
    .where("users.is_active", "=", true)
    .where("organizations.suspended_at", "is", null)
    .executeTakeFirst();
  if (!found) {
    return undefined;
  }
  const { rule_sets, ...user } = found;
  return toPerson({ organization_id, user, rule_sets, session: null, expires_at: null });
}

async function authenticateKey(world: World, secret: string): Promise<Caller> {
  const key = await findKey(world, secret);
  if (!key) {
    throw fail("credential_invalid");
  }
  const { id, name, expires_at } = key;
  return {
    organization_id: key.organization_id,
    credential: { type: "api_key", id, name, expires_at },
    scopes: new Set(scopesOfKey(key)),
    user: null,
    session: null,
    acts_for: key.created_by,
    role: key.creator_role,
    rule_holders: key.rule_holders,
    ...readBoundRules(key.rule_sets, [id, ...key.rule_holders]),
  };
}

async function authenticateToken(world: World, token: string): Promise<Caller> {
  const { expires_at, ...session } = await readAccessToken(world, token);
  const found = await selectSessionUser(world.database.queries, session).executeTakeFirst();
  if (!found) {
    throw fail("credential_invalid");
  }
  requireNotSuspended(found);
  const { suspended_at: _, rule_sets, ...user } = found;
  return toPerson({ organization_id: session.organization_id, user, rule_sets, session, expires_at });
}

interface FoundPerson extends Pick<Caller, "organization_id" | "session"> {
  readonly user: NonNullable<Caller["user"]>;
  readonly rule_sets: unknown;
  readonly expires_at: string | null;
}

function toPerson({ organization_id, user, rule_sets, session, expires_at }: FoundPerson): Caller {
  return {
    organization_id,
    credential: { type: "access_token", id: user.id, name: user.email, expires_at },
    scopes: new Set(roleScopes[user.role]),
    user,
    session,
    acts_for: user.id,
    role: user.role,
    rule_holders: [],
    ...readBoundRules(rule_sets, []),
  };
}
