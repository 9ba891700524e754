/** API keys as credentials: a key has no more authority than its creator has now. */
import { allScopes, type Scope } from "../../../../tools/contract/index.ts";
import type { Queries } from "../../../database/database.ts";
import { refersTo } from "../../../database/query/index.ts";
import type { Role } from "../../../ports/transport/caller.ts";
import { isExpired, roleScopes } from "../identity/index.ts";
import { selectRuleSets } from "../rules/index.ts";

/** The creator's columns are null for a key that no user created, such as the key of the data folder. */
interface KeyAuthority {
  readonly scopes: readonly string[];
  readonly expires_at: string | null;
  readonly creator_role: Role | null;
  readonly creator_is_active: boolean | null;
}

/** Keys with the role and the state of their creators, and the suspension of their organization. */
export function selectKeys(db: Queries) {
  return db
    .selectFrom("api_keys")
    .leftJoin("users", (join) => join.on(refersTo("api_keys.created_by", "users")))
    .innerJoin("organizations", "organizations.id", "api_keys.organization_id")
    .selectAll("api_keys")
    .select(["users.role as creator_role", "users.is_active as creator_is_active"])
    .select("organizations.suspended_at")
    .select(
      selectRuleSets("api_keys.organization_id", "api_keys.id", "api_keys.rule_holders").as("rule_sets"),
    );
}

/** Whether a key authenticates: it has not expired, and its creator has not been deactivated. */
export function isLiveKey(key: KeyAuthority, now: Date): boolean {
  return !isExpired(key, now) && key.creator_is_active !== false;
}

/** The scopes that a key has now: its granted scopes that its creator's role also has. */
export function scopesOfKey({ scopes, creator_role }: KeyAuthority): readonly Scope[] {
  const held = creator_role === null ? allScopes : roleScopes[creator_role];
  return allScopes.filter((scope) => scopes.includes(scope) && held.includes(scope));
}
