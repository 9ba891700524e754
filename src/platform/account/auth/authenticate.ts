/** Authenticates a credential: an API key, found by its hash, or a user's access token. */

import { fail } from "../../../../tools/errors.ts";
import type { Caller, World } from "../../foundation/kernel/index.ts";
import { findKey, scopesOfKey } from "../api-keys/index.ts";
import { readAccessToken, requireNotSuspended, roleScopes } from "../identity/index.ts";
import { readBoundRules } from "../rules/index.ts";
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
  return {
    organization_id: session.organization_id,
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
