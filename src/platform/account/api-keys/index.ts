/** API keys: the secret is shown once and stored as a hash; deleting a key revokes it immediately. */
import { apiKeys as contract } from "../../../../tools/api-keys.ts";
import {
  allScopes,
  isAdministrative,
  missingScope,
  parseFields,
  readScope,
  type Scope,
  toDottedScope,
} from "../../../../tools/contract/index.ts";
import { fail, failField } from "../../../../tools/errors.ts";
import { allowedOperations, permitsOperation } from "../../../../tools/rule-operations.ts";
import type { DatabaseTransaction, Queries } from "../../../database/database.ts";
import { newId } from "../../../database/id.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import { coalesce } from "../../../database/sharing/index.ts";
import {
  type Caller,
  implement,
  type ModuleRoute,
  type Transaction,
  type World,
} from "../../foundation/kernel/index.ts";
import { hashSecret, keyPrefix, newKeySecret, requireNotSuspended } from "../identity/index.ts";
import { requireBelowQuota } from "../organization/index.ts";
import {
  holdersOf,
  readBoundRules,
  readBudgetUse,
  readRulesIn,
  requireValidRules,
  saveRules,
} from "../rules/index.ts";
import { isLiveKey, scopesOfKey, selectKeys } from "./keys.ts";

export { scopesOfKey } from "./keys.ts";

/**
 * Creates a key for anyone with access to the data folder, to recover from the loss of all keys. The route
 * accepts only the key of a data folder, and grants every scope, because the operation grants account scopes
 * only to a signed-in user.
 */
const createKeyOnMachine: ModuleRoute = {
  methods: ["POST"],
  path: "/data-folder/keys",
  credential: "any",
  scope: "tokens:create",
  body: "json",
  async handle({ headers, body, organization_id: organization }, { database, now }) {
    const local = await database.queries
      .selectFrom("settings")
      .select("name")
      .where("name", "=", `local_key:${hashSecret(headers["x-api-key"] ?? "")}`)
      .executeTakeFirst();
    if (!local) {
      throw fail("route_not_found", { method: "POST", path: "/data-folder/keys" });
    }
    const { name, expires_at, scopes: listed } = parseFields(contract.create_api_key.input, body);
    const secret_key = newKeySecret();
    const scopes = listed.flatMap((scope) => readScope(scope) ?? []);
    const key = { organization, name, secret_key, scopes, expires_at, created_by: null, now: now() };
    const { id } = await database.transaction((tx) => insertKey(tx, key));
    return { status: 201, headers: { "cache-control": "no-store" }, body: { id, secret_key } };
  },
};

export const apiKeys = implement(contract, {
  tables: ["api_keys"],
  routes: [createKeyOnMachine],
  operations: {
    async create_api_key(
      { name, scopes: requestedScopes, expires_at },
      { tx, world, caller, actor, organization, variant, now },
    ) {
      const isPersonal = variant === "personal";
      const toNotation = isPersonal ? (scope: Scope) => scope : toDottedScope;
      const scopes = readScopes(requestedScopes, caller, isPersonal);
      if (expires_at !== undefined && Date.parse(expires_at) <= now.getTime()) {
        throw failField("expires_at", "expiry_not_in_future");
      }
      requireLifetime(caller, expires_at);
      await requireBelowQuota({ tx, world, organization }, "api_keys", tx.selectFrom("api_keys"));
      const secret_key = newKeySecret();
      const created_by = caller.acts_for;
      // Also those that its maker gets later.
      const rule_holders = holdersOf(actor, caller);
      const key = await insertKey(tx, {
        organization,
        name,
        secret_key,
        scopes,
        expires_at,
        created_by,
        rule_holders,
        now,
      });
      return { data: { ...key, secret_key, scopes: scopes.map(toNotation) } };
    },

    async list_api_keys(_, { db, organization, now }) {
      const keys = await listKeys(db, organization, now);
      const data = keys.map((key) => ({ ...key, scopes: key.scopes.map(toDottedScope) }));
      return { data, meta: { total: data.length } };
    },

    async set_api_key_rules({ id, rules }, context) {
      const { tx, organization, now } = context;
      requireValidRules(rules, "rules");
      await ofOrganization(tx, organization)
        .selectFrom("api_keys")
        .select("id")
        .where("id", "=", id)
        .forUpdate()
        .execute();
      await saveRules(context, id, rules);
      const key = (await listKeys(tx, organization, now)).find((one) => one.id === id);
      if (!key) {
        throw fail("api_key_not_found");
      }
      return { data: { ...key, scopes: key.scopes.map(toDottedScope) } };
    },

    async delete_api_key({ id }, { tx, organization }) {
      await deleteKey(tx, organization, id);
      return { data: { deleted: true as const } };
    },
  },
});

/** The organization's keys with their present scopes, newest first. */
export async function listKeys(db: Queries, organization: string, now: Date) {
  const rows = await selectKeys(db)
    .where("api_keys.organization_id", "=", organization)
    .orderBy("api_keys.id", "desc")
    .execute();
  const own = new Map(rows.map((row) => [row.id, readRulesIn(row.rule_sets, row.id)]));
  const budgets = [...own.values()].flatMap((one) => one.budgets);
  const uses = await readBudgetUse(db, organization, { budgets, now });
  return rows.map((row) => ({
    ...row,
    rules: own.get(row.id)?.rules ?? null,
    budget_use: uses.get(row.id) ?? null,
    scopes: scopesOfKey(row),
    is_active: isLiveKey(row, now),
  }));
}

/**
 * The ids of keys that would authenticate now, and whose rules allow `operation`, among the keys of callers
 * of one organization.
 */
export async function findLiveKeys(
  db: Queries,
  callers: readonly Caller[],
  { now, operation }: { readonly now: Date; readonly operation?: string | undefined },
): Promise<ReadonlySet<string>> {
  const [first] = callers;
  if (!first) {
    return new Set();
  }
  const rows = await selectKeys(db)
    .where("api_keys.organization_id", "=", first.organization_id)
    .where(
      "api_keys.id",
      "in",
      callers.map(({ credential }) => credential.id),
    )
    .execute();
  const mayCall = ({ id, rule_sets, rule_holders }: (typeof rows)[number]) => {
    const { rules } = readBoundRules(rule_sets, [id, ...rule_holders]);
    return operation === undefined || permitsOperation(allowedOperations(rules), operation);
  };
  const live = rows.filter((row) => isLiveKey(row, now) && row.suspended_at === null && mayCall(row));
  return new Set(live.map(({ id }) => id));
}

/** The keys of all organizations that were made before a time. */
export async function listKeysBefore(db: Queries, time: string) {
  return db
    .selectFrom("api_keys")
    .select(["organization_id", "id", "name"])
    .where("created_at", "<=", time)
    .orderBy("organization_id")
    .orderBy("id")
    .execute();
}

/** Revokes a key. @throws Failure `api_key_not_found`. */
export async function deleteKey(tx: Transaction, organization: string, id: string): Promise<void> {
  const { numDeletedRows } = await ofOrganization(tx, organization)
    .deleteFrom("api_keys")
    .where("id", "=", id)
    .executeTakeFirst();
  if (!numDeletedRows) {
    throw fail("api_key_not_found");
  }
}

/**
 * A key that expires can't create a key that lives longer. Keys that a user creates may outlive the access
 * token.
 * @throws Failure `expiry_beyond_own`.
 */
function requireLifetime({ credential }: Caller, expires_at: string | undefined): void {
  const own = credential.type === "api_key" ? credential.expires_at : null;
  if (own !== null && (expires_at === undefined || Date.parse(expires_at) > Date.parse(own))) {
    throw fail("expiry_beyond_own", { limit: own, param: "expires_at" });
  }
}

/** `last_used_at` is exact to the minute, so that a busy key does not cause a write on every call. */
const lastUsedPrecisionMs = 60_000;

/**
 * Finds the valid key with this secret and records its use. Returns undefined for an unknown or expired key.
 * @throws Failure `organization_suspended`.
 */
export async function findKey({ database: { queries, damaged }, now }: World, secret: string) {
  const key = await readKey(queries, hashSecret(secret));
  const time = now();
  if (!key || !isLiveKey(key, time)) {
    return undefined;
  }
  requireNotSuspended(key);
  const staleAt = new Date(time.getTime() - lastUsedPrecisionMs).toISOString();
  const isStale = key.last_used_at === null || Date.parse(key.last_used_at) <= Date.parse(staleAt);
  if (isStale && !damaged.aborted) {
    await ofOrganization(queries, key.organization_id)
      .updateTable("api_keys")
      .set({ last_used_at: time.toISOString() })
      .where("id", "=", key.id)
      // If several requests arrive together, only one writes.
      .where((row) => row.or([row("last_used_at", "is", null), row("last_used_at", "<=", staleAt)]))
      .execute();
  }
  return key;
}

/** The key with this hash. Read after the call: look-ups that wait for a connection share one statement. */
const readKey = coalesce(async (queries: Queries, hashes: readonly string[]) => {
  const rows = await selectKeys(queries)
    .where((row) => row("api_keys.hash", "=", row.fn.any(row.val(hashes))))
    .execute();
  const keys = new Map(rows.map((row) => [row.hash, row]));
  return hashes.map((hash) => keys.get(hash));
});

/** Inserts a key with a generated secret, or with one that the operator chose. */
export async function insertKey(
  tx: DatabaseTransaction,
  key: {
    organization: string;
    name: string;
    secret_key: string;
    scopes: readonly Scope[];
    expires_at?: string | undefined;
    created_by: string | null;
    rule_holders?: readonly string[];
    now: Date;
  },
) {
  return tx
    .insertInto("api_keys")
    .values({
      organization_id: key.organization,
      id: newId("key", key.now),
      name: key.name,
      prefix: key.secret_key.slice(0, keyPrefix.length + 6),
      hash: hashSecret(key.secret_key),
      scopes: [...key.scopes],
      created_by: key.created_by,
      rule_holders: [...(key.rule_holders ?? [])],
      created_at: key.now.toISOString(),
      expires_at: key.expires_at ?? null,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Accepts both notations of a scope. @throws Failure for scopes that the caller may not grant. */
function readScopes(requested: readonly string[], caller: Caller, isPersonal: boolean): Scope[] {
  if (isPersonal && caller.user?.role !== "owner" && caller.user?.role !== "admin") {
    throw fail("insufficient_role", { role: caller.user?.role });
  }
  const scopes = requested.map((text) => {
    const scope = readScope(text);
    if (!scope) {
      throw failField("scopes", "invalid_scope", {
        value: text,
        known: allScopes.filter((known) => isPersonal || !isAdministrative(known)).join(", "),
      });
    }
    if (isAdministrative(scope) && !isPersonal) {
      throw failField("scopes", "scope_needs_sign_in", { value: scope });
    }
    if (!caller.scopes.has(scope)) {
      throw fail("scope_not_held", { value: scope, ...missingScope(scope) });
    }
    return scope;
  });
  return allScopes.filter((scope) => scopes.includes(scope));
}
