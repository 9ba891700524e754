/**
 * Writes of an event in its own transaction: the event as it will be told, a delivery for each webhook that
 * subscribes to it, and the job of each delivery. So none is lost, whatever dies after the commit, and none is
 * told of what was rolled back.
 */
import { sql } from "kysely";
import { webhookEvents } from "../../../tools/webhooks.ts";
import type { Transaction } from "../../database/database.ts";
import type { Emission, World } from "../core/world.ts";
import { deliveryJob } from "./job.ts";

/** What is on while a webhook is off is held for it. */
export async function record(tx: Transaction, world: World, { event, order }: Emission): Promise<void> {
  if (!webhookEvents.includes(event.type)) {
    return;
  }
  const { organization_id, id: event_id, type, created_at } = event;
  const { rows } = await sql<{ webhook_id: string }>`
    with event as (
      insert into events (organization_id, id, type, body, order_key, conversation_id, created_at)
      values (${organization_id}, ${event_id}, ${type}, ${JSON.stringify(event)}, ${order},
        ${event.data.conversation_id}, ${created_at}::timestamptz)
    ), told as (
      insert into webhook_deliveries (organization_id, webhook_id, event_id, status, next_try_at, created_at)
      select organization_id, id, ${event_id},
        case when is_active then 'pending' else 'held' end,
        case when is_active then ${created_at}::timestamptz end,
        ${created_at}::timestamptz
      from webhooks
      where organization_id = ${organization_id} and ${type} = any(events)
      returning webhook_id, status
    )
    select webhook_id from told where status = 'pending'
  `.execute(tx);
  const due = { organization_id, event_id, turn: 1 };
  await world.jobs.enqueue(
    tx,
    ...rows.map(({ webhook_id }) => deliveryJob({ ...due, webhook_id }, { order })),
  );
}
