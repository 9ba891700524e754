/**
 * The subscription of an organization to a plan. Its periods follow each other without a gap. A job stores
 * the current period, and readers compute it, so that a late job never shows an old period.
 */
import { type Selectable, sql, type Updateable } from "kysely";
import type { BillingCycle } from "../../../../tools/billing.ts";
import type { Queries } from "../../../database/database.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import type { Tables } from "../../../database/schema/index.ts";
import { defineScheduledJob, type Transaction } from "../../foundation/kernel/index.ts";
import { addMonths } from "./periods.ts";

type Subscription = Selectable<Tables["subscriptions"]>;

const monthsOf: Readonly<Record<BillingCycle, number>> = { monthly: 1, annual: 12 };

const dayMs = 24 * 3_600_000;

export async function readSubscription(db: Queries, organization: string, now: Date) {
  return serialize(rollOn(await find(db, organization), now), now);
}

/** The operator's changes; undefined leaves a value unchanged. */
export type SubscriptionChange = Partial<
  Pick<Subscription, "plan_type" | "status" | "billing_cycle" | "cancel_at_period_end">
>;

export async function changeSubscription(
  tx: Transaction,
  organization: string,
  { change, now }: { readonly change: SubscriptionChange; readonly now: Date },
) {
  const before = rollOn(await find(tx, organization, "locked"), now);
  const isResumed = before.status === "cancelled" && (change.status ?? "cancelled") !== "cancelled";
  // Otherwise it would be cancelled again at the end of its first period.
  const changed = { ...before, ...(isResumed && { cancel_at_period_end: false }), ...change };
  const startsPeriod = isResumed || changed.billing_cycle !== before.billing_cycle;
  const after = startsPeriod ? withPeriod({ ...changed, anchor_at: now.toISOString() }, 0) : changed;
  await store(tx, after);
  return serialize(after, now);
}

const batchSize = 200;

export const rollSubscriptionsJob = defineScheduledJob({
  name: "subscription.roll",
  schedule: "*/10 * * * *",

  async run({ database, now }) {
    const rollBatch = () =>
      database.transaction(async (tx) => {
        const at = now();
        const due = await tx
          .selectFrom("subscriptions")
          .selectAll()
          .where("status", "<>", sql.lit("cancelled"))
          .where("current_period_end", "<=", at.toISOString())
          .limit(batchSize)
          .forUpdate()
          .skipLocked()
          .execute();
        for (const subscription of due) {
          await store(tx, rollOn(subscription, at));
        }
        return due.length;
      });
    while ((await rollBatch()) === batchSize) {
      // Continues with the next batch.
    }
  },
});

/** The subscription at this time, however many periods have ended since it was stored. */
function rollOn(stored: Subscription, now: Date): Subscription {
  let current = stored;
  while (current.status !== "cancelled" && new Date(current.current_period_end) <= now) {
    current = current.cancel_at_period_end
      ? { ...current, status: "cancelled" }
      : withPeriod({ ...current, status: "active" }, current.period + 1);
  }
  return current;
}

function withPeriod(subscription: Subscription, period: number): Subscription {
  return { ...subscription, period, current_period_end: startOf(subscription, period + 1).toISOString() };
}

function startOf({ anchor_at, billing_cycle }: Subscription, period: number): Date {
  return addMonths(new Date(anchor_at), period * monthsOf[billing_cycle]);
}

async function find(db: Queries, organization: string, lock?: "locked"): Promise<Subscription> {
  return ofOrganization(db, organization)
    .selectFrom("subscriptions")
    .selectAll()
    .$if(lock === "locked", (query) => query.forUpdate())
    .executeTakeFirstOrThrow();
}

async function store(tx: Transaction, { organization_id, id: _, ...values }: Subscription): Promise<void> {
  const changes: Updateable<Tables["subscriptions"]> = values;
  await ofOrganization(tx, organization_id).updateTable("subscriptions").set(changes).execute();
}

function serialize(subscription: Subscription, now: Date) {
  const { current_period_end, status } = subscription;
  const remainingMs = new Date(current_period_end).getTime() - now.getTime();
  return {
    ...subscription,
    current_period_start: startOf(subscription, subscription.period).toISOString(),
    is_trialing: status === "trialing",
    /** A day that has begun counts; 0 after the end. */
    days_until_expiry: Math.max(0, Math.ceil(remainingMs / dayMs)),
  };
}
