/** Every event of the service, with the shape of its data. */
import type { z } from "zod";
import { messageEvents } from "./messages/index.ts";

/** The events that a webhook can subscribe to. */
export const publicEvents = messageEvents;

/** Every event; only the public ones are sent to webhooks. */
export const events = { ...publicEvents } as const;

export type EventName = keyof typeof events;
export type EventData<Name extends EventName> = z.infer<(typeof events)[Name]>;

/** What a listener and a webhook receive. */
export interface Event<Name extends EventName = EventName> {
  /** `evt_…`, the same over every retry. */
  readonly id: string;
  readonly type: Name;
  readonly organization_id: string;
  readonly created_at: string;
  readonly data: EventData<Name>;
}
