/** Users: who may sign in, as what, and that somebody always owns the organization. */

import { missingScope } from "../../tools/contract/index.ts";
import { fail } from "../../tools/errors.ts";
import { users as contract } from "../../tools/users.ts";
import type { Transaction } from "../database/database.ts";
import { newId } from "../database/id.ts";
import { holds, readPage } from "../database/query/index.ts";
import { hashPassword, newPassword, roleScopes } from "./identity/index.ts";
import {
  announceCapacity,
  type Caller,
  implement,
  type Role,
  takeTurn,
  type WriteContext,
} from "./kernel/index.ts";

export const users = implement(contract, {
  operations: {
    async list_users({ search, role, ...paging }, { db, organization }) {
      const found = db
        .selectFrom("users")
        .selectAll()
        .where("organization_id", "=", organization)
        .$if(search !== undefined, (query) => query.where(holds(search ?? "", "name", "email")))
        .$if(role !== undefined, (query) => query.where("role", "=", role ?? "agent"))
        .orderBy((row) => row.fn<string>("lower", ["name"]))
        .orderBy("id");
      const { rows, meta } = await readPage(found, paging);
      return { data: rows, meta };
    },

    create_user: {
      async prepare({ password: chosen, ...input }) {
        const password = chosen ?? newPassword();
        const password_hash = await hashPassword(password);
        return async ({ tx, caller, organization, now }) => {
          requireGrantable(caller, input.role);
          const user = await insertUser(tx, { ...input, organization, password_hash, now });
          if (!user) {
            throw fail("user_exists", { param: "email", ...(await ownUser(tx, organization, input.email)) });
          }
          return { data: { ...user, ...(chosen === undefined ? { password } : {}) } };
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

interface Changes {
  readonly name?: string | undefined;
  readonly role?: Role | undefined;
  readonly is_active?: boolean | undefined;
  readonly password_hash: string | undefined;
}

async function changeUser(context: WriteContext, id: string, { password_hash, ...changes }: Changes) {
  const { tx, caller, organization, now } = context;
  // Two owners who step down at once must not both find the other one.
  await takeTurn(tx, organization);
  const user = await getUser(tx, organization, id);
  const { name = user.name, role = user.role, is_active = user.is_active } = changes;
  requireReach(caller, user.role);
  requireGrantable(caller, role);
  if (isOwner(user) && !isOwner({ role, is_active })) {
    await requireOtherOwner(tx, organization, id);
  }
  const endsSessions = password_hash !== undefined || !is_active;
  if (is_active && !user.is_active) {
    await announceCapacity(context, organization);
  }
  return tx
    .updateTable("users")
    .set({
      name,
      role,
      is_active,
      password_hash: password_hash ?? user.password_hash,
      session_version: user.session_version + (endsSessions ? 1 : 0),
      updated_at: now.toISOString(),
    })
    .where("organization_id", "=", organization)
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Stores a user, unless somebody has this address, in whichever organization. */
export async function insertUser(
  tx: Transaction,
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

async function getUser(tx: Transaction, organization: string, id: string) {
  const user = await tx
    .selectFrom("users")
    .selectAll()
    .where("organization_id", "=", organization)
    .where("id", "=", id)
    .executeTakeFirst();
  if (!user) {
    throw fail("user_not_found");
  }
  return user;
}

/** The id of the organization's own user with this address; of another's nothing is told. */
async function ownUser(tx: Transaction, organization: string, email: string) {
  return tx
    .selectFrom("users")
    .select("id as existing_id")
    .where("organization_id", "=", organization)
    .where((row) => row(row.fn<string>("lower", ["email"]), "=", email.toLowerCase()))
    .executeTakeFirst();
}

function isOwner(user: { role: Role; is_active: boolean }): boolean {
  return user.role === "owner" && user.is_active;
}

/** @throws Failure `last_owner` unless there is another one who can sign in. */
async function requireOtherOwner(tx: Transaction, organization: string, id: string): Promise<void> {
  const other = await tx
    .selectFrom("users")
    .select("id")
    .where("organization_id", "=", organization)
    .where("role", "=", "owner")
    .where("is_active", "=", true)
    .where("id", "!=", id)
    .limit(1)
    .executeTakeFirst();
  if (!other) {
    throw fail("last_owner");
  }
}

/** @throws Failure `scope_not_held` when the role may do what the caller may not. */
function requireGrantable(caller: Caller, role: Role): void {
  const lacking = lackingFor(caller, role);
  if (lacking.length > 0) {
    throw fail("scope_not_held", { value: lacking.join(", "), required_scopes: lacking, param: "role" });
  }
}

/** @throws Failure `insufficient_scope` when the person may do more than the caller. */
function requireReach(caller: Caller, role: Role): void {
  const lacking = lackingFor(caller, role);
  if (lacking.length > 0) {
    throw fail("insufficient_scope", missingScope({ all: lacking }));
  }
}

function lackingFor(caller: Caller, role: Role) {
  return roleScopes[role].filter((scope) => !caller.scopes.has(scope));
}
