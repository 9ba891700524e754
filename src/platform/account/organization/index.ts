/** The organization: its name and the settings that apply to everything in it. */
import { type Selectable, sql } from "kysely";
import { fail } from "../../../../tools/errors.ts";
import { fromMicros, toMicros } from "../../../../tools/money.ts";
import { BusinessHours, organization as contract } from "../../../../tools/organization.ts";
import type { DatabaseTransaction, Queries } from "../../../database/database.ts";
import type { Tables } from "../../../database/schema/index.ts";
import {
  type Actor,
  defineHook,
  implement,
  type Transaction,
  type World,
} from "../../foundation/kernel/index.ts";
import { requireCountry } from "../phone/index.ts";

export { nextOpening, nextTimeOfDay } from "./business-hours.ts";
export { countLocked, failQuota, limitOf, requireBelowQuota } from "./limits.ts";
export { lockOrganization, lockOrganizations } from "./lock.ts";

/**
 * Whether a module keeps amounts in the organization's currency. Not an event: the change depends on the
 * result.
 */
export const usesCurrency = defineHook<[tx: Transaction, organization: string], boolean>();

export const organization = implement(contract, {
  tables: ["organizations"],
  operations: {
    async get_organization(_, { db, organization: id }) {
      return { data: await getOrganization(db, id) };
    },

    async update_organization(changes, { tx, world, organization: id, actor }) {
      requireCountry(changes.default_country, "default_country");
      requireFreeClock(actor, changes);
      if (Object.keys(changes).length === 0) {
        return { data: await getOrganization(tx, id) };
      }
      const { business_hours: hours, low_balance_threshold: threshold, ...others } = changes;
      await requireCurrencyFree(tx, world, { id, wanted: changes.currency });
      const changed = await tx
        .updateTable("organizations")
        .set({
          ...others,
          business_hours: hours && JSON.stringify(hours),
          low_balance_threshold: threshold && toMicros(threshold),
        })
        .where("id", "=", id)
        .returningAll()
        .executeTakeFirstOrThrow();
      return { data: serializeOrganization(changed) };
    },
  },
});

/**
 * Budgets count days and months in the time zone, and rules know the business hours: whom they bind can't
 * change these.
 * @throws Failure `not_allowed_by_rules`.
 */
function requireFreeClock(
  { budgets = [], exceedsBudgets = false, rules = [] }: Actor,
  { time_zone, business_hours }: { readonly time_zone?: unknown; readonly business_hours?: unknown },
): void {
  const isCounted = budgets.length > 0 && !exceedsBudgets;
  const isTimed = rules.some(({ approve }) => approve.outside_hours === true);
  if (time_zone !== undefined && (isCounted || isTimed)) {
    throw fail("not_allowed_by_rules", { value: "a change of the time zone, on which they depend" });
  }
  if (business_hours !== undefined && isTimed) {
    throw fail("not_allowed_by_rules", { value: "a change of the business hours, on which they depend" });
  }
}

export async function getOrganization(db: Queries, id: string) {
  const row = await db.selectFrom("organizations").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
  return serializeOrganization(row);
}

function serializeOrganization(row: Selectable<Tables["organizations"]>) {
  const { low_balance_threshold: threshold } = row;
  return {
    ...row,
    business_hours: BusinessHours.nullable().parse(row.business_hours),
    low_balance_threshold: threshold && fromMicros(threshold),
  };
}

/**
 * Locks the organization until the commit. Ledger entries, payment orders and add-ons, which refer to the
 * currency, take the same lock.
 * @throws Failure `currency_fixed` if one of them exists and the currency is another one.
 */
async function requireCurrencyFree(
  tx: Transaction,
  world: World,
  { id, wanted }: { readonly id: string; readonly wanted: string | undefined },
): Promise<void> {
  if (wanted === undefined) {
    return;
  }
  const { currency } = await tx
    .selectFrom("organizations")
    .select("currency")
    .where("id", "=", id)
    .forUpdate()
    .executeTakeFirstOrThrow();
  if (wanted !== currency && (await usesCurrency.run(world, tx, id)).includes(true)) {
    throw fail("currency_fixed", { param: "currency", currency });
  }
}

/** `limit` is in millionths of the currency's unit; null applies the setting again. */
export async function changeCreditLimit(
  tx: Transaction,
  id: string,
  credit_limit: number | null,
): Promise<void> {
  await tx.updateTable("organizations").set({ credit_limit }).where("id", "=", id).execute();
}

/** A new organization. A setting without a value has its default. */
export interface NewOrganizationRow {
  readonly id: string;
  readonly name: string;
  readonly time_zone?: string | undefined;
  readonly default_country?: string | undefined;
  readonly currency?: string | undefined;
  readonly now: Date;
}

export async function insertOrganization(
  tx: DatabaseTransaction,
  { now, ...values }: NewOrganizationRow,
): Promise<void> {
  await tx
    .insertInto("organizations")
    .values({ ...values, created_at: now.toISOString() })
    .execute();
}

/**
 * Suspends the organization: after the commit, its credentials are rejected and its jobs wait. An earlier
 * suspension keeps its time.
 */
export async function suspendOrganization(
  tx: Transaction,
  id: string,
  { reason, now }: { readonly reason: string; readonly now: Date },
): Promise<void> {
  await tx
    .updateTable("organizations")
    .set({
      suspended_at: sql`coalesce(suspended_at, ${now.toISOString()})`,
      suspension_reason: reason,
    })
    .where("id", "=", id)
    .execute();
}

export async function resumeOrganization(tx: Transaction, id: string): Promise<void> {
  await tx
    .updateTable("organizations")
    .set({ suspended_at: null, suspension_reason: null })
    .where("id", "=", id)
    .execute();
}

/** Changes the given limits. Null removes the organization's own limit. */
export async function changeLimits(
  tx: Transaction,
  id: string,
  limits: Readonly<Record<string, number | null | undefined>>,
): Promise<void> {
  await tx
    .updateTable("organizations")
    .set({ limits: sql`jsonb_strip_nulls(limits || ${JSON.stringify(limits)}::jsonb)` })
    .where("id", "=", id)
    .execute();
}
