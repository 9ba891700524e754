/** Emits events inside the transaction that causes them. */
import { sql } from "kysely";
import type { Event, EventData, EventName } from "../../../tools/events.ts";
import { afterCommit, beforeCommit, type Transaction } from "../../database/database.ts";
import { newId } from "../../database/id.ts";
import type { NewJob } from "../../jobs/job.ts";
import type { Emission, World } from "./context.ts";

interface NewEvent<Name extends EventName> {
  readonly type: Name;
  readonly organization_id: string;
  /** Events with the same value reach a listener one at a time, in the order in which they were emitted. */
  readonly order: string;
  readonly data: EventData<Name>;
}

const pendingEmissions = new WeakMap<Transaction, Emission[]>();

/**
 * Records an event and enqueues one job per listener, all in `tx`. The events of a transaction are written
 * together, just before its commit.
 */
export function emit<Name extends EventName>(
  tx: Transaction,
  world: World,
  { order, ...newEvent }: NewEvent<Name>,
): void {
  const state = metricStates[newEvent.type];
  if (state) {
    afterCommit(tx, () => world.metrics.message(state));
  }
  const now = world.now();
  const event: Event<Name> = { id: newId("evt", now), created_at: now.toISOString(), ...newEvent };
  const emission = { event, orderKey: order };
  const earlier = pendingEmissions.get(tx);
  if (earlier) {
    earlier.push(emission);
    return;
  }
  const emissions: Emission[] = [emission];
  pendingEmissions.set(tx, emissions);
  beforeCommit(tx, () => writeEmissions(tx, world, emissions));
}

async function writeEmissions(tx: Transaction, world: World, emissions: readonly Emission[]): Promise<void> {
  const jobs: NewJob[] = [];
  for (const record of world.recorders) {
    jobs.push(...(await record(tx, emissions)));
  }
  for (const { event, orderKey } of emissions) {
    for (const name of world.listeners.get(event.type) ?? []) {
      jobs.push({
        name,
        payload: event,
        organization_id: event.organization_id,
        key: `${name}:${orderKey}`,
      });
    }
  }
  await world.jobs.enqueue(tx, ...jobs);
}

/** Deletes the recorded events of these conversations, whose contact is being erased. */
export async function eraseEvents(tx: Transaction, organization: string, conversations: readonly string[]) {
  const { rows } = await sql<{ id: string }>`
    delete from events
    where organization_id = ${organization} and conversation_id = any(${conversations}::text[])
    returning id
  `.execute(tx);
  // A receiver's response, which is stored with the delivery, may repeat the event.
  await sql`
    delete from webhook_deliveries
    where organization_id = ${organization} and event_id = any(${rows.map(({ id }) => id)}::text[])
  `.execute(tx);
}

/** The events that count as a message's new state. */
const metricStates: { readonly [Name in EventName]?: Parameters<World["metrics"]["message"]>[0] } = {
  "message.received": "received",
  "message.sent": "sent",
  "message.delivered": "delivered",
  "message.read": "read",
  "message.failed": "failed",
};
