/** Tells the house that something happened, inside the transaction in which it did. */
import { sql } from "kysely";
import type { Event, EventData, EventName } from "../../../tools/events.ts";
import { afterCommit, beforeCommit, type Transaction } from "../../database/database.ts";
import { newId } from "../../database/id.ts";
import type { NewJob } from "../../jobs/job.ts";
import type { Emission, World } from "./context.ts";

const gathered = new WeakMap<Transaction, Emission[]>();

/**
 * Has the event recorded and adds one job for each listener, so that all of it commits with its cause: what
 * one transaction emits is written at its end, together.
 * Events with the same `order` reach a listener one at a time, in the order in which they were emitted.
 */
export function emit<Name extends EventName>(
  tx: Transaction,
  world: World,
  happening: { type: Name; organization_id: string; order: string; data: EventData<Name> },
): void {
  const state = states[happening.type];
  if (state) {
    afterCommit(tx, () => world.metrics.message(state));
  }
  const now = world.now();
  const { order, ...told } = happening;
  const event: Event<Name> = { id: newId("evt", now), created_at: now.toISOString(), ...told };
  const emission = { event, order };
  const earlier = gathered.get(tx);
  if (earlier) {
    earlier.push(emission);
    return;
  }
  const emissions: Emission[] = [emission];
  gathered.set(tx, emissions);
  beforeCommit(tx, () => write(tx, world, emissions));
}

async function write(tx: Transaction, world: World, emissions: readonly Emission[]): Promise<void> {
  const jobs: NewJob[] = [];
  for (const record of world.recorders) {
    jobs.push(...(await record(tx, emissions)));
  }
  for (const { event, order } of emissions) {
    for (const name of world.listeners.get(event.type) ?? []) {
      jobs.push({
        name,
        payload: event,
        organization_id: event.organization_id,
        key: `${name}:${order}`,
      });
    }
  }
  await world.jobs.enqueue(tx, ...jobs);
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
