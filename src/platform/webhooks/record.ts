/**
 * Writes of events in their own transaction: each as it will be told, a delivery for each webhook that
 * subscribes to it, and the job of each delivery. So none is lost, whatever dies after the commit, and none is
 * told of what was rolled back.
 */
import { sql } from "kysely";
import { webhookEvents } from "../../../tools/webhooks.ts";
import type { Transaction } from "../../database/database.ts";
import type { NewJob } from "../../jobs/job.ts";
import type { Emission } from "../kernel/index.ts";
import { deliveryJob } from "./job.ts";

interface Told {
  readonly organization_id: string;
  readonly webhook_id: string;
  readonly event_id: string;
  readonly order: string;
}

/** What is on while a webhook is off is held for it. */
export async function record(tx: Transaction, emissions: readonly Emission[]): Promise<readonly NewJob[]> {
  const telling = emissions.filter(({ event }) => webhookEvents.includes(event.type));
  if (telling.length === 0) {
    return [];
  }
  const events = telling.map(({ event, order }, place) => {
    const { organization_id, id, type, created_at, data } = event;
    const { conversation_id } = data;
    return {
      ...{ place, organization_id, id, type, created_at, conversation_id },
      body: JSON.stringify(event),
      order_key: order,
    };
  });
  const { rows } = await sql<Told>`
    with event as (
      select * from jsonb_to_recordset(${JSON.stringify(events)}::jsonb) as event (place integer, organization_id text,
        id text, type text, body text, order_key text, conversation_id text, created_at timestamptz)
    ), kept as (
      insert into events (organization_id, id, type, body, order_key, conversation_id, created_at)
      select organization_id, id, type, body, order_key, conversation_id, created_at from event
    ), told as (
      insert into webhook_deliveries (organization_id, webhook_id, event_id, status, next_try_at, created_at)
      select event.organization_id, webhook.id, event.id,
        case when webhook.is_active then 'pending' else 'held' end,
        case when webhook.is_active then event.created_at end,
        event.created_at
      from event
      join webhooks as webhook on webhook.organization_id = event.organization_id and event.type = any(webhook.events)
      returning webhook_id, event_id, status
    )
    -- In the order in which it happened: a receiver is told of a message in the order of its jobs.
    select event.organization_id, told.webhook_id, told.event_id, event.order_key as order
    from event join told on told.event_id = event.id
    where told.status = 'pending'
    order by event.place
  `.execute(tx);
  return rows.map(({ order, ...due }) => deliveryJob({ ...due, turn: 1 }, { order }));
}
