/** Every event of the service, with the shape of its data and the scope that reads it. */
import { z } from "zod";
import { broadcastEvents } from "./broadcasts/index.ts";
import { contactEvents } from "./contacts.ts";
import { nearestName, type Scope } from "./contract/index.ts";
import { conversationEvents } from "./conversation-events.ts";
import { flowEvents } from "./flows/index.ts";
import { importEvents } from "./imports.ts";
import { inboxEvents } from "./inboxes.ts";
import { messageEvents } from "./messages/index.ts";
import { noteEvents } from "./notes.ts";
import { paymentEvents } from "./payments.ts";
import { planEvents } from "./plan-events.ts";
import { templateEvents } from "./templates/index.ts";
import { walletEvents } from "./wallet.ts";

/**
 * Events that every message may cause. They are recorded only where something wants them, so that a message
 * costs no more statements elsewhere.
 */
const eventsOnDemand = { ...conversationEvents, ...contactEvents };

export type EventNameOnDemand = keyof typeof eventsOnDemand;

/** The events that a webhook can subscribe to. */
export const publicEvents = {
  ...messageEvents,
  ...noteEvents,
  ...inboxEvents,
  ...walletEvents,
  ...broadcastEvents,
  ...flowEvents,
  ...eventsOnDemand,
  ...templateEvents,
  ...importEvents,
  ...paymentEvents,
  ...planEvents,
};

export type PublicEventName = keyof typeof publicEvents;

/** The events of the specification, which list_events returns by default. */
export const specifiedEvents: readonly PublicEventName[] = [
  "message.received",
  "message.sent",
  "message.delivered",
  "message.read",
  "message.failed",
];

export function isPublicEvent(type: string): type is PublicEventName {
  return Object.hasOwn(publicEvents, type);
}

/** The message about a type that no event has; a long type is cut. */
export function explainUnknownEvent(name: string): string {
  const type = name.slice(0, 64);
  const nearest = nearestName(type, Object.keys(publicEvents)) ?? "message.received";
  return `${type} is no type of event. Send types such as ${nearest}; the schema of a webhook's events lists all of them.`;
}

export function isEventOnDemand(type: string): type is EventNameOnDemand {
  return Object.hasOwn(eventsOnDemand, type);
}

/** The types in a comma-separated list whose names have been checked. */
export function readEventTypes(types: string): readonly PublicEventName[] {
  return types
    .split(",")
    .map((type) => type.trim())
    .filter(isPublicEvent);
}

/** Events that start flows. They have no other receivers. */
const internalEvents = {
  "window.expiring": {
    scope: "inbox:read",
    /** last_user_message_at: the time of the message that opened the window. */
    data: z.object({ conversation_id: z.string(), last_user_message_at: z.string() }),
  },
} as const;

/** Every event. Only the public events are sent to webhooks. */
export const events = { ...publicEvents, ...internalEvents } as const satisfies Record<
  string,
  { readonly scope: Scope; readonly data: z.ZodObject }
>;

export type EventName = keyof typeof events;
export type EventData<Name extends EventName> = z.infer<(typeof events)[Name]["data"]>;

/** The scopes that read the data of these events, each once. */
export function scopesOfEvents(names: readonly EventName[]): readonly Scope[] {
  return [...new Set(names.map((name) => events[name].scope))];
}

/** An event in the form in which listeners and webhooks receive it. */
export interface Event<Name extends EventName = EventName> {
  /** `evt_…`, the same in every retry. */
  readonly id: string;
  readonly type: Name;
  readonly organization_id: string;
  readonly created_at: string;
  readonly data: EventData<Name>;
}
