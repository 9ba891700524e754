/** Writes down how tries went, many in one statement, and promises the next ones. */
import { sql } from "kysely";
import type { Queries, Transaction } from "../../database/database.ts";
import type { NewJob } from "../../jobs/job.ts";
import { gather, type World } from "../kernel/index.ts";
import { type Due, deliveryJob, nameOf } from "./job.ts";

/** What becomes of a delivery after a try. */
export interface Settled extends Due {
  readonly status: "pending" | "delivered" | "failed" | "held";
  readonly step: number;
  readonly next_try_at: string | null;
  readonly attempt: Readonly<Record<string, unknown>>;
  readonly isDelivered: boolean;
  /** The receiver answered that it is no more. */
  readonly isGone: boolean;
  /** As the webhook was when the try began. */
  readonly failing_since: string | null;
}

/** Replays have no end, so the log of one delivery has. */
const keptAttempts = 30;
/** Five days of nothing but failures: a weekend, and then some. */
const failingForMs = 5 * 24 * 3_600_000;

/** Nothing is written of a try whose turn has passed: it was replayed while it ran, or settled before a crash. */
export const settle = gather(async (world, settled: readonly Settled[]): Promise<undefined[]> => {
  const noted = noteworthy(settled);
  if (noted.length === 0 && settled.every(({ next_try_at }) => next_try_at === null)) {
    await move(world.database.queries, settled);
  } else {
    await world.database.transaction(async (tx) => {
      const moved = await move(tx, settled);
      await world.jobs.enqueue(tx, ...retries(settled, moved));
      for (const one of noted) {
        await noteHealth(tx, world, one);
      }
    });
  }
  return settled.map(() => undefined);
});

function retries(settled: readonly Settled[], moved: ReadonlySet<string>): NewJob[] {
  return settled.flatMap(({ organization_id, webhook_id, event_id, turn, next_try_at }) =>
    next_try_at !== null && moved.has(nameOf({ webhook_id, event_id }))
      ? deliveryJob(
          { organization_id, webhook_id, event_id, turn: turn + 1 },
          { runAt: new Date(next_try_at) },
        )
      : [],
  );
}

/** Those whose turn it still was. */
async function move(queries: Queries, settled: readonly Settled[]): Promise<ReadonlySet<string>> {
  const rows = settled.map(({ organization_id, webhook_id, event_id, turn, status, step, ...rest }) => {
    const { next_try_at, attempt } = rest;
    return { organization_id, webhook_id, event_id, turn, status, step, next_try_at, attempt };
  });
  // The limit tells the planner how few they are, so that it looks each up.
  const moved = await sql<{ webhook_id: string; event_id: string }>`
    update webhook_deliveries as delivery
    set status = done.status, turn = delivery.turn + 1, step = done.step, next_try_at = done.next_try_at,
      attempts = case when jsonb_array_length(delivery.attempts) < ${keptAttempts} then delivery.attempts
        else delivery.attempts - 0 end || done.attempt
    from (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as done (organization_id text,
        webhook_id text, event_id text, turn integer, status text, step integer, next_try_at timestamptz, attempt jsonb)
      limit ${rows.length}
    ) as done
    where delivery.organization_id = done.organization_id and delivery.webhook_id = done.webhook_id
      and delivery.event_id = done.event_id and delivery.turn = done.turn and delivery.status = 'pending'
    returning delivery.webhook_id, delivery.event_id
  `.execute(queries);
  return new Set(moved.rows.map(nameOf));
}

/**
 * Of each webhook the try that changes what is known of its health; most change nothing. In the order of
 * their ids, so that two batches never wait for each other.
 */
function noteworthy(settled: readonly Settled[]): Settled[] {
  const changing = settled.filter(({ isDelivered, failing_since }) => !isDelivered || failing_since !== null);
  // A success says more than the failures beside it, and a farewell more than either.
  const byWeight = changing.toSorted((a, b) => weigh(a) - weigh(b));
  const latest = new Map(byWeight.map((one) => [one.webhook_id, one]));
  return [...latest.values()].sort((a, b) => (a.webhook_id < b.webhook_id ? -1 : 1));
}

function weigh({ isDelivered, isGone }: Settled): number {
  return Number(isDelivered) + 2 * Number(isGone);
}

/** Since when it fails, and whether that is long enough to leave it alone. */
async function noteHealth(tx: Transaction, world: World, settled: Settled): Promise<void> {
  const { isDelivered, isGone, failing_since } = settled;
  const now = world.now();
  const row = tx
    .updateTable("webhooks")
    .where("organization_id", "=", settled.organization_id)
    .where("id", "=", settled.webhook_id);
  if (isDelivered) {
    await row.set({ failing_since: null }).execute();
    return;
  }
  // The first failure and this one: where they are five days apart, they are more than twelve hours apart.
  const isHopeless = failing_since !== null && now.getTime() - Date.parse(failing_since) >= failingForMs;
  if (isGone || isHopeless) {
    const disabled_reason = isGone ? "gone" : "failing";
    const updated_at = now.toISOString();
    const { numUpdatedRows } = await row
      .set({ is_active: false, disabled_reason, updated_at })
      .where("is_active", "=", true)
      // Not by what was known before it was switched on again, or had a success.
      .$if(!isGone, (query) => query.where("failing_since", "=", failing_since))
      .executeTakeFirst();
    if (numUpdatedRows) {
      const { organization_id, webhook_id } = settled;
      world.log.warn({ organization_id, webhook_id, disabled_reason }, "A webhook was switched off");
    }
    return;
  }
  if (failing_since === null) {
    await row.set({ failing_since: now.toISOString() }).where("failing_since", "is", null).execute();
  }
}

/** The webhook is off: the event is kept for when it is on again. */
export async function hold(world: World, due: Due): Promise<void> {
  await world.database.queries
    .updateTable("webhook_deliveries")
    .set({ status: "held", next_try_at: null })
    .where("organization_id", "=", due.organization_id)
    .where("webhook_id", "=", due.webhook_id)
    .where("event_id", "=", due.event_id)
    .where("turn", "=", due.turn)
    .where("status", "=", "pending")
    .execute();
}
