/** Authenticates a credential: an API key, found by its hash, or a user's access token. */

import { allScopes } from "../../../tools/contract/index.ts";
import { fail } from "../../../tools/errors.ts";
import { findKey } from "../api-keys.ts";
import { readAccessToken, roleScopes } from "../identity/index.ts";
import type { Caller, World } from "../kernel/index.ts";

/** @throws Failure `credential_invalid`, the same for an unknown, a revoked and an expired credential. */
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
    scopes: new Set(allScopes.filter((scope) => key.scopes.includes(scope))),
    user: null,
    acts_for: key.created_by,
  };
}

async function authenticateToken(world: World, token: string): Promise<Caller> {
  const claims = await readAccessToken(world, token);
  const user = await world.database.queries
    .selectFrom("users")
    .select(["id", "email", "name", "role"])
    .where("organization_id", "=", claims.organization_id)
    .where("id", "=", claims.user_id)
    .where("session_version", "=", claims.session_version)
    .where("is_active", "=", true)
    .executeTakeFirst();
  if (!user) {
    throw fail("credential_invalid");
  }
  return {
    organization_id: claims.organization_id,
    credential: { type: "access_token", id: user.id, name: user.email, expires_at: claims.expires_at },
    scopes: new Set(roleScopes[user.role]),
    user,
    acts_for: user.id,
  };
}
