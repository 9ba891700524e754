/** The organization: its name and the settings that apply to everything in it. */
import type { Selectable } from "kysely";
import { BusinessHours, organization as contract } from "../../tools/organization.ts";
import type { Queries, Transaction } from "../database/database.ts";
import type { Tables } from "../database/schema/index.ts";
import { implement } from "./kernel/index.ts";
import { requireCountry } from "./phone/index.ts";

export const organization = implement(contract, {
  tables: ["organizations"],
  operations: {
    async get_organization(_, { db, organization: id }) {
      return { data: await getOrganization(db, id) };
    },

    async update_organization(changes, { tx, organization: id }) {
      requireCountry(changes.default_country, "default_country");
      if (Object.keys(changes).length === 0) {
        return { data: await getOrganization(tx, id) };
      }
      const { business_hours: hours, ...others } = changes;
      const changed = await tx
        .updateTable("organizations")
        .set({ ...others, business_hours: hours && JSON.stringify(hours) })
        .where("id", "=", id)
        .returningAll()
        .executeTakeFirstOrThrow();
      return { data: serializeOrganization(changed) };
    },
  },
});

export async function getOrganization(db: Queries, id: string) {
  const row = await db.selectFrom("organizations").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
  return serializeOrganization(row);
}

function serializeOrganization(row: Selectable<Tables["organizations"]>) {
  return { ...row, business_hours: BusinessHours.nullable().parse(row.business_hours) };
}

export async function insertOrganization(
  tx: Transaction,
  { id, name, now }: { readonly id: string; readonly name: string; readonly now: Date },
): Promise<void> {
  await tx.insertInto("organizations").values({ id, name, created_at: now.toISOString() }).execute();
}
