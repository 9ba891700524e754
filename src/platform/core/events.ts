/** Tells the house that something happened, inside the transaction in which it did. */
import type { Event, EventData, EventName } from "../../../tools/events.ts";
import { afterCommit, type Transaction } from "../../database/database.ts";
import { newId } from "../../database/id.ts";
import type { World } from "./world.ts";

/**
 * Adds one job for each listener, so that the event and its cause commit together.
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
  if (listeners.length === 0) {
    return;
  }
  const now = world.now();
  const { order, ...told } = happening;
  const event: Event<Name> = { id: newId("evt", now), created_at: now.toISOString(), ...told };
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

/** The events that say to which state a message has come. */
const states: { readonly [Name in EventName]?: Parameters<World["metrics"]["message"]>[0] } = {
  "message.received": "received",
  "message.sent": "sent",
  "message.delivered": "delivered",
  "message.read": "read",
  "message.failed": "failed",
};
