/** Tells the house that something happened, inside the transaction in which it did. */
import { sql } from "kysely";
import type { Event, EventData, EventName } from "../../../tools/events.ts";
import { afterCommit, type Transaction } from "../../database/database.ts";
import { newId } from "../../database/id.ts";
import type { World } from "./world.ts";

/**
 * Has the event recorded and adds one job for each listener, so that all of it commits with its cause.
 * Events with the same `order` reach a listener one at a time, in the order in which they were emitted.
 */
export async function emit<Name extends EventName>(
  tx: Transaction,
  world: World,
  happening: { type: Name; organization_id: string; order: string; data: EventData<Name> },
): Promise<void> {
  const state = states[happening.type];
  if (state) {
    afterCommit(tx, () => world.metrics.message(state));
  }
  const listeners = world.listeners.get(happening.type) ?? [];
  const now = world.now();
  const { order, ...told } = happening;
  const event: Event<Name> = { id: newId("evt", now), created_at: now.toISOString(), ...told };
  for (const record of world.recorders) {
    await record(tx, world, { event, order });
  }
  await world.jobs.enqueue(
    tx,
    ...listeners.map((name) => ({
      name,
      payload: event,
      organization_id: happening.organization_id,
      key: `${name}:${order}`,
    })),
  );
}

/** Takes back what was recorded of these conversations: their contact was erased. */
export async function forgetEvents(tx: Transaction, organization: string, conversations: readonly string[]) {
  const { rows } = await sql<{ id: string }>`
    delete from events
    where organization_id = ${organization} and conversation_id = any(${conversations}::text[])
    returning id
  `.execute(tx);
  // What receivers answered may repeat what they were told.
  await sql`
    delete from webhook_deliveries
    where organization_id = ${organization} and event_id = any(${rows.map(({ id }) => id)}::text[])
  `.execute(tx);
}
/** The events that say to which state a message has come. */
const states: { readonly [Name in EventName]?: Parameters<World["metrics"]["message"]>[0] } = {
  "message.received": "received",
  "message.sent": "sent",
  "message.delivered": "delivered",
  "message.read": "read",
  "message.failed": "failed",
};
