/** The events: the five that subscribers are told of, and those that only the house hears. */
import { z } from "zod";
import { timestamp } from "./fields.ts";
import { MessageError, messageStatuses, messageTypes } from "./messages.ts";

const Received = z.object({
  message_id: z.string(),
  conversation_id: z.string(),
  from: z.string(),
  type: z.enum(messageTypes),
  text: z.object({ body: z.string() }).optional(),
});

const Progress = z.object({
  message_id: z.string(),
  conversation_id: z.string(),
  to: z.string(),
  type: z.enum(messageTypes),
  status: z.enum(messageStatuses),
  timestamp,
  /** Rises with each event of one message, so that a receiver can put them in order. */
  sequence: z.int(),
  error: MessageError.optional(),
});

/** What subscribers may be told of, with the shape of each event's data. */
export const publicEvents = {
  "message.received": Received,
  "message.sent": Progress,
  "message.delivered": Progress,
  "message.read": Progress,
  "message.failed": Progress,
} as const;

/** Every event; those that are not public never leave the house. */
export const events = { ...publicEvents } as const;

export type EventName = keyof typeof events;
export type EventData<Name extends EventName> = z.infer<(typeof events)[Name]>;

/** What is handed to a listener, and to a subscriber. */
export interface Event<Name extends EventName = EventName> {
  /** `evt_…`, the same over every retry. */
  readonly id: string;
  readonly type: Name;
  readonly organization_id: string;
  readonly created_at: string;
  readonly data: EventData<Name>;
}
