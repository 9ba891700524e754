/** Every event of the service, with the shape of its data and the scope that reads it. */
import { z } from "zod";
import type { Scope } from "./contract/index.ts";
import { messageEvents } from "./messages/index.ts";
import { walletEvents } from "./wallet.ts";

/** The events that a webhook can subscribe to. */
export const publicEvents = { ...messageEvents, ...walletEvents };

const Changed = z.object({ conversation_id: z.string() });

/** Events that start flows. They are emitted only in organizations where a flow may react. */
const internalEvents = {
  "conversation.opened": { scope: "inbox:read", data: Changed },
  "conversation.assigned": { scope: "inbox:read", data: Changed },
  "conversation.closed": { scope: "inbox:read", data: Changed },
} as const;

/** Every event; only the public ones are sent to webhooks. */
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

/** What a listener and a webhook receive. */
export interface Event<Name extends EventName = EventName> {
  /** `evt_…`, the same over every retry. */
  readonly id: string;
  readonly type: Name;
  readonly organization_id: string;
  readonly created_at: string;
  readonly data: EventData<Name>;
}
