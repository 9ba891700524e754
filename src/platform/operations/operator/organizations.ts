/** Organizations for the operator: created with their owner, found by id, and listed. */
import { type Selectable, sql } from "kysely";
import { allScopes } from "../../../../tools/contract/index.ts";
import { fail } from "../../../../tools/errors.ts";
import type { NewOrganization } from "../../../../tools/operator.ts";
import type { Queries } from "../../../database/database.ts";
import { newId } from "../../../database/id.ts";
import { containsText, readPage } from "../../../database/query/index.ts";
import type { Tables } from "../../../database/schema/index.ts";
import { insertKey } from "../../account/api-keys/index.ts";
import { hashPassword, newKeySecret, newPassword } from "../../account/identity/index.ts";
import { requireCountry } from "../../account/phone/index.ts";
import { insertUser } from "../../account/users.ts";
import type { Transaction, World } from "../../foundation/kernel/index.ts";
import { createOrganization } from "../bootstrap.ts";

/**
 * Prepares an organization outside the transaction; the returned function creates it.
 * @throws Failure `unknown_country`.
 */
export async function prepareOrganization(input: NewOrganization) {
  const { owner, ...settings } = input;
  requireCountry(settings.default_country, "default_country");
  const password = owner.password ?? newPassword();
  const password_hash = await hashPassword(password);
  return async (tx: Transaction, { now, firstInbox }: { readonly now: Date } & Pick<World, "firstInbox">) => {
    const id = newId("org", now);
    await createOrganization(tx, { ...settings, id, now }, firstInbox);
    const values = { organization: id, email: owner.email, name: owner.name, role: "owner", now } as const;
    const user = await insertUser(tx, { ...values, password_hash });
    if (!user) {
      throw fail("user_exists", { param: "owner.email" });
    }
    const secret_key = newKeySecret();
    const named = { organization: id, name: "First key", secret_key, scopes: allScopes };
    const api_key = await insertKey(tx, { ...named, created_by: user.id, now });
    return {
      organization: await requireOrganization(tx, id),
      owner: { ...user, ...(owner.password === undefined ? { password } : {}) },
      api_key: { ...api_key, secret_key },
    };
  };
}

/** @throws Failure `organization_not_found`. */
export async function requireOrganization(db: Queries, id: string) {
  const row = await selectOrganizations(db).where("id", "=", id).executeTakeFirst();
  if (!row) {
    throw fail("organization_not_found");
  }
  return serialize(row);
}

interface Filters {
  readonly search?: string | undefined;
  readonly status?: "active" | "suspended" | undefined;
  readonly page: number;
  readonly per_page: number;
}

export async function listOrganizations(db: Queries, { search, status, ...paging }: Filters) {
  const matches = selectOrganizations(db)
    .$if(search !== undefined, (query) => query.where(containsText(search ?? "", "name")))
    .$if(status === "active", (query) => query.where("suspended_at", "is", null))
    .$if(status === "suspended", (query) => query.where("suspended_at", "is not", null))
    .orderBy("id", "desc");
  const { rows, meta } = await readPage(matches, paging);
  return { data: rows.map(serialize), meta };
}

/** Each count reads one range of a key. */
function selectOrganizations(db: Queries) {
  return db
    .selectFrom("organizations")
    .selectAll()
    .select([
      sql<number>`(select count(*) from users where organization_id = organizations.id)`.as("users"),
      sql<number>`(select count(*) from inboxes where organization_id = organizations.id)`.as("inboxes"),
    ]);
}

function serialize<Row extends Selectable<Tables["organizations"]>>(row: Row) {
  return { ...row, status: row.suspended_at === null ? ("active" as const) : ("suspended" as const) };
}
