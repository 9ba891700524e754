/**
 * Records public events in the transaction that causes them: the event as it will be sent, and a delivery for
 * each webhook that subscribes to it. The jobs of the deliveries are added in the same transaction. So no
 * committed event is lost, and no event of a rolled-back transaction is sent.
 */
import { type Event, isPublicEvent } from "../../../../tools/events.ts";
import { columnsOf, recordset, rowsOf } from "../../../database/query/index.ts";
import type { NewJob } from "../../../jobs/job.ts";
import type { Emission, Transaction } from "../../foundation/kernel/index.ts";
import { createDeliveryJob } from "./job.ts";

const deliveryColumns = {
  organization_id: "text",
  ...columnsOf("webhook_deliveries", "webhook_id", "event_id"),
  order: "text",
} as const;

const eventColumns = {
  place: "integer",
  ...columnsOf(
    "events",
    "organization_id",
    "id",
    "type",
    "body",
    "order_key",
    "conversation_id",
    "contact_id",
    "created_at",
  ),
} as const;

/** Returns the jobs of the new deliveries. The deliveries of an inactive webhook are held, without a job. */
export async function recordEvents(
  tx: Transaction,
  emissions: readonly Emission[],
): Promise<readonly NewJob[]> {
  const recorded = emissions.filter(({ event }) => isPublicEvent(event.type));
  if (recorded.length === 0) {
    return [];
  }
  const events = recorded.map(({ event, orderKey }, place) => {
    const { organization_id, id, type, created_at } = event;
    return {
      place,
      organization_id,
      id,
      type,
      created_at,
      ...subjectsOf(event),
      body: JSON.stringify(event),
      order_key: orderKey,
    };
  });
  const { rows } = await rowsOf(deliveryColumns)`
    with event as (
      select * from ${recordset("event", eventColumns, events)}
    ), stored_event as (
      insert into events (organization_id, id, type, body, order_key, conversation_id, contact_id, created_at)
      select organization_id, id, type, body, order_key, conversation_id, contact_id, created_at from event
    ), new_delivery as (
      insert into webhook_deliveries (organization_id, webhook_id, event_id, status, next_try_at, created_at)
      select event.organization_id, webhook.id, event.id,
        case when webhook.is_active then 'pending' else 'held' end,
        case when webhook.is_active then event.created_at end,
        event.created_at
      from event
      join webhooks as webhook on webhook.organization_id = event.organization_id and event.type = any(webhook.events)
      returning webhook_id, event_id, status
    )
    -- In the order of the events: the jobs of one order key run in the order in which they were added.
    select event.organization_id, new_delivery.webhook_id, new_delivery.event_id, event.order_key as order
    from event join new_delivery on new_delivery.event_id = event.id
    where new_delivery.status = 'pending'
    order by event.place
  `.execute(tx);
  return rows.map(({ order, ...delivery }) => createDeliveryJob({ ...delivery, turn: 1 }, { order }));
}

/** The conversation and the contact of an event, as far as it names them: an erasure finds it by each. */
function subjectsOf({ data }: Event) {
  return {
    conversation_id: "conversation_id" in data ? data.conversation_id : undefined,
    contact_id: "contact_id" in data ? data.contact_id : undefined,
  };
}
