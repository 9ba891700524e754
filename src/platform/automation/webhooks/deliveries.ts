/** Lists, replays and recovers deliveries. */
import { type Selectable, type SelectQueryBuilder, sql } from "kysely";
import { z } from "zod";
import { fail } from "../../../../tools/errors.ts";
import type { webhooks as contract } from "../../../../tools/webhooks.ts";
import type { Queries } from "../../../database/database.ts";
import { columnsOf, ofOrganization, refersTo, rowsOf } from "../../../database/query/index.ts";
import type { Tables } from "../../../database/schema/index.ts";
import { defineJob, type Transaction, type World } from "../../foundation/kernel/index.ts";
import { createDeliveryJob } from "./job.ts";

type DeliveryOutput = z.input<typeof contract.replay_webhook_delivery.output>["data"];
type Row = Selectable<Tables["webhook_deliveries"]> & { readonly type: string };

/** A webhook's deliveries with the type of their event. */
export function deliveriesOf(db: Queries, organization: string, webhook: string) {
  return ofOrganization(db, organization)
    .selectFrom("webhook_deliveries")
    .innerJoin("events", (join) => join.on(refersTo("webhook_deliveries.event_id", "events")))
    .selectAll("webhook_deliveries")
    .select("events.type")
    .where("webhook_deliveries.webhook_id", "=", webhook);
}

export function serializeDelivery({ event_id, type, attempts, ...row }: Row): DeliveryOutput {
  // `recordEvents` writes the type from an event, and `saveAttemptResult` the attempts from an AttemptResult.
  const checked = { type, attempts } as Pick<DeliveryOutput, "type" | "attempts">;
  return { ...row, ...checked, id: event_id };
}

interface ReplayRequest {
  readonly organization: string;
  readonly webhook: string;
  readonly event: string;
  readonly now: Date;
}

/** Locks the delivery until the commit. @throws Failure `webhook_delivery_not_found`. */
export async function lockDelivery(
  tx: Transaction,
  organization: string,
  { webhook, event }: { readonly webhook: string; readonly event: string },
): Promise<void> {
  const row = await ofOrganization(tx, organization)
    .selectFrom("webhook_deliveries")
    .select("event_id")
    .where("webhook_id", "=", webhook)
    .where("event_id", "=", event)
    .forUpdate()
    .executeTakeFirst();
  if (!row) {
    throw fail("webhook_delivery_not_found");
  }
}

/** Restarts a locked delivery at the beginning of its schedule; a pending attempt is replaced. */
export async function replayDelivery(
  tx: Transaction,
  { organization, webhook, event, now }: ReplayRequest,
): Promise<DeliveryOutput> {
  const { turn } = await ofOrganization(tx, organization)
    .updateTable("webhook_deliveries")
    .set((column) => ({
      status: "pending",
      step: 0,
      next_try_at: now.toISOString(),
      turn: column("turn", "+", 1),
    }))
    .where("webhook_id", "=", webhook)
    .where("event_id", "=", event)
    .returning("turn")
    .executeTakeFirstOrThrow();
  const payload = { organization_id: organization, webhook_id: webhook, event_id: event, turn };
  await tx.enqueue([createDeliveryJob(payload)]);
  const delivery = await deliveriesOf(tx, organization, webhook)
    .where("webhook_deliveries.event_id", "=", event)
    .executeTakeFirstOrThrow();
  return serializeDelivery(delivery);
}

/** Ends all deliveries that wait, in all organizations. They can be retried one by one, or recovered. */
export async function failWaitingDeliveries(tx: Transaction) {
  return tx
    .updateTable("webhook_deliveries")
    .set({ status: "failed", next_try_at: null })
    .where("status", "in", ["pending", "held"])
    .returning(["organization_id", "webhook_id", "event_id"])
    .execute();
}

const RecoveryRequest = z.object({ organization_id: z.string(), webhook_id: z.string(), since: z.string() });

export type RecoveryRequest = Readonly<z.infer<typeof RecoveryRequest>>;

/** How many deliveries since `since` have failed, are held, or wait for a retry. */
export async function countMissed(db: Queries, recovery: RecoveryRequest, now: Date): Promise<number> {
  const { count } = await selectMissed(db.selectFrom("webhook_deliveries"), recovery, now)
    .select((select) => select.fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  return count;
}

/** Deliveries per transaction. */
const recoverBatchSize = 500;

/**
 * Restarts the missed deliveries in one pass over their ids, so that a delivery that is held again is not
 * restarted twice.
 */
export const recoverDeliveriesJob = defineJob({
  name: "webhook.recover",
  payload: RecoveryRequest,

  async run(recovery, world) {
    let last: string | undefined = "";
    while (last !== undefined) {
      const after: string = last;
      last = await world.database.transaction((tx) => recoverBatch(tx, world, { ...recovery, after }));
    }
    return undefined;
  },
});

/** Returns the id of the last delivery in the batch; undefined if the batch is empty. */
async function recoverBatch(
  tx: Transaction,
  world: World,
  { after, ...recovery }: RecoveryRequest & { after: string },
) {
  const { organization_id, webhook_id } = recovery;
  const now = world.now();
  const batch = selectMissed(tx.selectFrom("webhook_deliveries"), recovery, now)
    .select("event_id")
    .where("event_id", ">", after)
    .orderBy("event_id")
    .limit(recoverBatchSize);
  const { rows } = await rowsOf({
    ...columnsOf("webhook_deliveries", "event_id", "turn"),
    ...columnsOf("events", "order_key"),
  })`
    update webhook_deliveries as delivery
    set status = 'pending', step = 0, turn = turn + 1, next_try_at = ${now.toISOString()}::timestamptz
    from events as event
    where delivery.organization_id = ${organization_id} and delivery.webhook_id = ${webhook_id}
      and delivery.event_id in (${batch})
      and event.organization_id = ${organization_id} and event.id = delivery.event_id
    returning delivery.event_id, delivery.turn, event.order_key
  `.execute(tx);
  const ordered = rows.toSorted((a, b) => (a.event_id < b.event_id ? -1 : 1));
  await tx.enqueue(
    ordered.map(({ event_id, turn, order_key: order }) =>
      createDeliveryJob({ organization_id, webhook_id, event_id, turn }, { order }),
    ),
  );
  return ordered.at(-1)?.event_id;
}

function selectMissed<Row>(
  rows: SelectQueryBuilder<Tables, "webhook_deliveries", Row>,
  { organization_id, webhook_id, since }: RecoveryRequest,
  now: Date,
) {
  return (
    rows
      .where("organization_id", "=", organization_id)
      .where("webhook_id", "=", webhook_id)
      // The same expression as in the partial index, so that the index is used.
      .where(sql<boolean>`(status in ('failed', 'held') or (status = 'pending' and step > 0))`)
      // Leaves out an attempt that is running now.
      .where((row) => row.or([row("next_try_at", "is", null), row("next_try_at", ">", now.toISOString())]))
      .where("created_at", ">=", since)
  );
}
