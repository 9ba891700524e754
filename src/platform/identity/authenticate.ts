/** Authenticates a credential: an API key, found by its hash, or a user's access token. */

import { allScopes, type Scope } from "../../../tools/contract/index.ts";
import { fail } from "../../../tools/errors.ts";
import type { Caller, Role, World } from "../kernel/index.ts";
import { readAccessToken } from "./access-tokens.ts";
import { hashSecret, isExpired } from "./secrets.ts";

/** `last_used_at` is exact to the minute, so that a busy key does not cause a write on every call. */
const lastUsedPrecisionMs = 60_000;

/** The scopes of a signed-in user. */
export const roleScopes: Readonly<Record<Role, readonly Scope[]>> = {
  owner: allScopes,
  admin: allScopes,
  supervisor: allScopes.filter((scope) => !scope.startsWith("tokens:") && scope !== "broadcasts:send"),
  agent: [
    "inbox:read",
    "inbox:write",
    "contacts:read",
    "contacts:write",
    "templates:read",
    "broadcasts:read",
  ],
};

/** @throws Failure `credential_invalid`, the same for an unknown, a revoked and an expired credential. */
export async function authenticate(world: World, credential: string): Promise<Caller> {
  return credential.startsWith("sk_")
    ? authenticateKey(world, credential)
    : authenticateToken(world, credential);
}

async function authenticateKey(world: World, secret: string): Promise<Caller> {
  const now = world.now();
  const key = await world.database.queries
    .selectFrom("api_keys")
    .select(["organization_id", "id", "name", "scopes", "expires_at", "last_used_at", "created_by"])
    .where("hash", "=", hashSecret(secret))
    .executeTakeFirst();
  if (!key || isExpired(key, now)) {
    throw fail("credential_invalid");
  }
  if (key.last_used_at === null || now.getTime() - Date.parse(key.last_used_at) >= lastUsedPrecisionMs) {
    await world.database.queries
      .updateTable("api_keys")
      .set({ last_used_at: now.toISOString() })
      .where("organization_id", "=", key.organization_id)
      .where("id", "=", key.id)
      .execute();
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
