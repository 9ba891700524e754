/** Users: the people who can sign in, and their roles. At least one active owner always remains. */
import { fail } from "../../../tools/errors.ts";
import { users as contract } from "../../../tools/users.ts";
import type { DatabaseTransaction, Queries } from "../../database/database.ts";
import { newId } from "../../database/id.ts";
import { containsText, ofOrganization, readPage } from "../../database/query/index.ts";
import type { Role } from "../../ports/transport/caller.ts";
import {
  type Caller,
  type Change,
  defineHook,
  implement,
  type Transaction,
  type WriteContext,
} from "../foundation/kernel/index.ts";
import { hashPassword, newPassword } from "./identity/index.ts";
import { lockOrganization } from "./organization/index.ts";

/**
 * Agents may have become free, so waiting conversations may be assigned. Not an event: there is nothing to
 * report to subscribers.
 */
export const capacityFreed = defineHook<[change: Change, organization: string]>();

/**
 * A user has another role, or was activated or deactivated. Not an event: actions that the user may no longer
 * perform must not run meanwhile, and sessions of the console must not go on.
 */
export const authorityChanged =
  defineHook<[change: Change, user: { readonly organization: string; readonly user_id: string }]>();

export const users = implement(contract, {
  tables: ["users"],
  operations: {
    async list_users(filters, { db, organization }) {
      return listUsers(db, organization, filters);
    },

    create_user: {
      async prepare({ password: chosenPassword, ...input }) {
        const password = chosenPassword ?? newPassword();
        const password_hash = await hashPassword(password);
        return async ({ tx, caller, organization, now }) => {
          requireOwnerFor(caller, input.role);
          const user = await insertUser(tx, { ...input, organization, password_hash, now });
          if (!user) {
            const existing = await findByEmail(tx, organization, input.email);
            throw fail("user_exists", { param: "email", ...existing });
          }
          return { data: { ...user, ...(chosenPassword === undefined ? { password } : {}) } };
        };
      },
    },

    update_user: {
      async prepare({ id, password, ...changes }) {
        const password_hash = password === undefined ? undefined : await hashPassword(password);
        return async (context) => ({ data: await changeUser(context, id, { ...changes, password_hash }) });
      },
    },
  },
});

interface UserChanges {
  readonly name?: string | undefined;
  readonly role?: Role | undefined;
  readonly is_active?: boolean | undefined;
  readonly password_hash: string | undefined;
}

async function changeUser(context: WriteContext, id: string, { password_hash, ...changes }: UserChanges) {
  const { tx, caller, organization, now } = context;
  // Serialized, so that if two owners give up the role at the same time, one stays owner.
  await lockOrganization(tx, organization);
  const user = await getUser(tx, organization, id);
  const { name = user.name, role = user.role, is_active = user.is_active } = changes;
  requireOwnerFor(caller, user.role);
  requireOwnerFor(caller, role);
  if (isOwner(user) && !isOwner({ role, is_active })) {
    await requireOtherOwner(tx, organization, id);
  }
  const endsSessions = password_hash !== undefined || !is_active;
  if (is_active && !user.is_active) {
    await capacityFreed.run(context.world, context, organization);
  }
  const changed = await ofOrganization(tx, organization)
    .updateTable("users")
    .set({
      name,
      role,
      is_active,
      password_hash: password_hash ?? user.password_hash,
      session_version: user.session_version + (endsSessions ? 1 : 0),
      updated_at: now.toISOString(),
    })
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirstOrThrow();
  if (role !== user.role || is_active !== user.is_active) {
    await authorityChanged.run(context.world, context, { organization, user_id: id });
  }
  return changed;
}

interface UserFilters {
  readonly search?: string | undefined;
  readonly role?: Role | undefined;
  readonly page: number;
  readonly per_page: number;
}

/** A page of the organization's users, in the order of their names. */
export async function listUsers(db: Queries, organization: string, { search, role, ...paging }: UserFilters) {
  const matches = ofOrganization(db, organization)
    .selectFrom("users")
    .selectAll()
    .$if(search !== undefined, (query) => query.where(containsText(search ?? "", "name", "email")))
    .$if(role !== undefined, (query) => query.where("role", "=", role ?? "agent"))
    .orderBy((row) => row.fn<string>("lower", ["name"]))
    .orderBy("id");
  const { rows, meta } = await readPage(matches, paging);
  return { data: rows, meta };
}

/** Inserts a user; undefined if a user of any organization has this e-mail address. */
export async function insertUser(
  tx: DatabaseTransaction,
  user: { organization: string; email: string; name: string; role: Role; password_hash: string; now: Date },
) {
  const { organization, email, name, role, password_hash, now } = user;
  return tx
    .insertInto("users")
    .values({
      organization_id: organization,
      id: newId("usr", now),
      email,
      name,
      role,
      password_hash,
      created_at: now.toISOString(),
      updated_at: now.toISOString(),
    })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
}

/**
 * Replaces a verified user's password and ends the user's sessions. Returns undefined if the password was
 * changed since it was verified.
 */
export async function replacePassword(
  tx: Transaction,
  verified: { readonly organization_id: string; readonly id: string; readonly session_version: number },
  { password_hash, now }: { readonly password_hash: string; readonly now: Date },
) {
  return ofOrganization(tx, verified.organization_id)
    .updateTable("users")
    .set({ password_hash, session_version: verified.session_version + 1, updated_at: now.toISOString() })
    .where("id", "=", verified.id)
    .where("session_version", "=", verified.session_version)
    .where("is_active", "=", true)
    .returningAll()
    .executeTakeFirst();
}

/**
 * Replaces a verified user's e-mail address. Returns undefined if the password was changed since it was
 * verified. An address that another user has violates a unique index.
 */
export async function replaceEmail(
  tx: Transaction,
  verified: { readonly organization_id: string; readonly id: string; readonly session_version: number },
  { email, now }: { readonly email: string; readonly now: Date },
) {
  return ofOrganization(tx, verified.organization_id)
    .updateTable("users")
    .set({ email, updated_at: now.toISOString() })
    .where("id", "=", verified.id)
    .where("session_version", "=", verified.session_version)
    .where("is_active", "=", true)
    .returningAll()
    .executeTakeFirst();
}

/** Replaces a user's name. */
export async function replaceName(
  tx: Transaction,
  user: { readonly organization_id: string; readonly user_id: string },
  { name, now }: { readonly name: string; readonly now: Date },
) {
  return ofOrganization(tx, user.organization_id)
    .updateTable("users")
    .set({ name, updated_at: now.toISOString() })
    .where("id", "=", user.user_id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

async function getUser(tx: Transaction, organization: string, id: string) {
  const user = await ofOrganization(tx, organization)
    .selectFrom("users")
    .selectAll()
    .where("id", "=", id)
    .executeTakeFirst();
  if (!user) {
    throw fail("user_not_found");
  }
  return user;
}

/** Ends the access tokens of all users of all organizations. */
export async function endAllAccessTokens(tx: Transaction): Promise<void> {
  await tx
    .updateTable("users")
    .set((column) => ({ session_version: column("session_version", "+", 1) }))
    .execute();
}

/** For the operator: the user with this address, in any organization. */
export async function findUserByEmail(tx: Transaction, email: string) {
  return tx
    .selectFrom("users")
    .selectAll()
    .where((row) => row(row.fn<string>("lower", ["email"]), "=", email.toLowerCase()))
    .executeTakeFirst();
}

/** For the operator: the owner of an organization who has been it for longest. */
export async function findFirstOwner(tx: Transaction, organization: string) {
  return ofOrganization(tx, organization)
    .selectFrom("users")
    .selectAll()
    .where("role", "=", "owner")
    .where("is_active", "=", true)
    .orderBy("id")
    .limit(1)
    .executeTakeFirst();
}

/**
 * The id of the user with this address if the user is in the same organization: ids of other tenants are not
 * disclosed.
 */
async function findByEmail(tx: Transaction, organization: string, email: string) {
  return ofOrganization(tx, organization)
    .selectFrom("users")
    .select("id as existing_id")
    .where((row) => row(row.fn<string>("lower", ["email"]), "=", email.toLowerCase()))
    .executeTakeFirst();
}

function isOwner(user: { role: Role; is_active: boolean }): boolean {
  return user.role === "owner" && user.is_active;
}

/** @throws Failure `last_owner` unless the organization has another active owner. */
async function requireOtherOwner(tx: Transaction, organization: string, id: string): Promise<void> {
  const other = await ofOrganization(tx, organization)
    .selectFrom("users")
    .select("id")
    .where("role", "=", "owner")
    .where("is_active", "=", true)
    .where("id", "!=", id)
    .limit(1)
    .executeTakeFirst();
  if (!other) {
    throw fail("last_owner");
  }
}

/**
 * The caller is a signed-in owner or admin. Both have the same scopes, but only an owner may change an owner
 * or make a user an owner.
 * @throws Failure `owner_required`.
 */
function requireOwnerFor(caller: Caller, role: Role): void {
  if (role === "owner" && caller.role !== "owner") {
    throw fail("owner_required", { role: caller.role });
  }
}
