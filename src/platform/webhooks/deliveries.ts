/** Lists deliveries, and sends again what was missed. */
import { type Selectable, type SelectQueryBuilder, sql } from "kysely";
import type { z } from "zod";
import { fail } from "../../../tools/errors.ts";
import type { webhooks as contract } from "../../../tools/webhooks.ts";
import type { Queries, Transaction } from "../../database/database.ts";
import { refersTo } from "../../database/query/index.ts";
import type { Tables } from "../../database/schema/index.ts";
import type { ModuleJob, World } from "../kernel/index.ts";
import { deliveryJob } from "./job.ts";

type Shown = z.input<typeof contract.replay_webhook_delivery.output>["data"];
type Row = Selectable<Tables["webhook_deliveries"]> & { readonly type: string };

/** A webhook's deliveries with the type of their event. */
export function deliveriesOf(db: Queries, organization: string, webhook: string) {
  return db
    .selectFrom("webhook_deliveries")
    .innerJoin("events", (join) => join.on(refersTo("webhook_deliveries.event_id", "events")))
    .selectAll("webhook_deliveries")
    .select("events.type")
    .where("webhook_deliveries.organization_id", "=", organization)
    .where("webhook_deliveries.webhook_id", "=", webhook);
}

export function showDelivery({ event_id, type, attempts, ...row }: Row): Shown {
  // Written by `record` from an event's own type, and by `settle` from an attempt.
  return { ...row, id: event_id, type: type as Shown["type"], attempts: attempts as Shown["attempts"] };
}

interface Replayed {
  readonly organization: string;
  readonly webhook: string;
  readonly event: string;
  readonly now: Date;
}

/** From the beginning of the schedule; a try that is still to come is replaced. */
export async function replay(tx: Transaction, world: World, replayed: Replayed): Promise<Shown> {
  const { organization, webhook, event, now } = replayed;
  const row = await tx
    .updateTable("webhook_deliveries")
    .set((is) => ({ status: "pending", step: 0, turn: is("turn", "+", 1), next_try_at: now.toISOString() }))
    .where("organization_id", "=", organization)
    .where("webhook_id", "=", webhook)
    .where("event_id", "=", event)
    .returning("turn")
    .executeTakeFirst();
  if (!row) {
    throw fail("webhook_delivery_not_found");
  }
  const due = { organization_id: organization, webhook_id: webhook, event_id: event, turn: row.turn };
  await world.jobs.enqueue(tx, deliveryJob(due));
  const found = deliveriesOf(tx, organization, webhook).where("webhook_deliveries.event_id", "=", event);
  return showDelivery(await found.executeTakeFirstOrThrow());
}

export interface Recovery {
  readonly organization_id: string;
  readonly webhook_id: string;
  readonly since: string;
}

/** How many failed, were held or wait for another try, of what was told since then. */
export async function countMissed(db: Queries, recovery: Recovery, now: Date): Promise<number> {
  const { count } = await missed(db.selectFrom("webhook_deliveries"), recovery, now)
    .select((select) => select.fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  return count;
}

/** Of what was missed, so many in one transaction. */
const together = 500;

/** Goes through them once, by their ids: what is held again in the meantime is left as it is. */
export const recover: ModuleJob<Recovery> = {
  name: "webhook.recover",

  async run(recovery, world) {
    let last: string | undefined = "";
    while (last !== undefined) {
      const after: string = last;
      last = await world.database.transaction((tx) => recoverSome(tx, world, { ...recovery, after }));
    }
    return undefined;
  },
};

/** The id up to which it came; undefined when nothing was left. */
async function recoverSome(
  tx: Transaction,
  world: World,
  { after, ...recovery }: Recovery & { after: string },
) {
  const { organization_id, webhook_id } = recovery;
  const now = world.now();
  const some = missed(tx.selectFrom("webhook_deliveries"), recovery, now)
    .select("event_id")
    .where("event_id", ">", after)
    .orderBy("event_id")
    .limit(together);
  const { rows } = await sql<{ event_id: string; turn: number; order_key: string }>`
    update webhook_deliveries as delivery
    set status = 'pending', step = 0, turn = turn + 1, next_try_at = ${now.toISOString()}::timestamptz
    from events as event
    where delivery.organization_id = ${organization_id} and delivery.webhook_id = ${webhook_id}
      and delivery.event_id in (${some})
      and event.organization_id = ${organization_id} and event.id = delivery.event_id
    returning delivery.event_id, delivery.turn, event.order_key
  `.execute(tx);
  const ordered = rows.toSorted((a, b) => (a.event_id < b.event_id ? -1 : 1));
  await world.jobs.enqueue(
    tx,
    ...ordered.map(({ event_id, turn, order_key: order }) =>
      deliveryJob({ organization_id, webhook_id, event_id, turn }, { order }),
    ),
  );
  return ordered.at(-1)?.event_id;
}

function missed<Row>(
  rows: SelectQueryBuilder<Tables, "webhook_deliveries", Row>,
  { organization_id, webhook_id, since }: Recovery,
  now: Date,
) {
  return (
    rows
      .where("organization_id", "=", organization_id)
      .where("webhook_id", "=", webhook_id)
      // In the words of its index.
      .where(sql<boolean>`(status in ('failed', 'held') or (status = 'pending' and step > 0))`)
      // Not what is being tried just now.
      .where((row) => row.or([row("next_try_at", "is", null), row("next_try_at", ">", now.toISOString())]))
      .where("created_at", ">=", since)
  );
}
