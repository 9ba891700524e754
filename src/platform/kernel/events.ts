/** Emits events inside the transaction that causes them. */
import { type RawBuilder, sql } from "kysely";
import type { Event, EventData, EventName, InternalEventName } from "../../../tools/events.ts";
import { afterCommit, beforeCommit, type Transaction } from "../../database/database.ts";
import { newId } from "../../database/id.ts";
import { type NewJob, newJob } from "../../jobs/job.ts";
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
    for (const type of world.listeners.get(event.type) ?? []) {
      const subject = conversationOf(event);
      jobs.push(newJob(type, event, { key: `${type.name}:${orderKey}`, subject }));
    }
  }
  await world.jobs.enqueueAll(tx, jobs);
}

/** The conversation that an event is of, whose contact's erasure also erases the event; undefined for none. */
export function conversationOf({ data }: Event): string | undefined {
  return "conversation_id" in data ? data.conversation_id : undefined;
}

/** The events that count as a message's new state. */
const metricStates: { readonly [Name in EventName]?: Parameters<World["metrics"]["message"]>[0] } = {
  "message.received": "received",
  "message.sent": "sent",
  "message.delivered": "delivered",
  "message.read": "read",
  "message.failed": "failed",
};

/**
 * Whether an enabled flow of the organization reacts to one of these events: a part of the statement that makes the change, so
 * that an event without a flow costs no statement.
 */
export function isListenedTo(
  organization_id: RawBuilder<unknown>,
  types: readonly InternalEventName[],
): RawBuilder<boolean> {
  return sql<boolean>`exists (
    select from flows where flows.organization_id = ${organization_id} and flows.is_enabled
      and flows.trigger_type = 'event' and flows.trigger_event_type in (${sql.join(types.map((type) => sql.lit(type)))})
  )`;
}
