/**
 * The events that start flows: what each of them says about the conversation.
 *
 * To add one: its name in `triggerEvents` (`tools/flows/data.ts`), and its entry here; the recorder and the job follow. An event
 * that a flow caused itself must return undefined, so that flows don't start each other in a circle.
 */
import type { Event } from "../../../../tools/events.ts";
import type { TriggerEvent } from "../../../../tools/flows/index.ts";

export interface Source {
  readonly conversation_id: string;
  /** The message that the contact wrote. It is compared with keywords, and is the reply that a run waits for. */
  readonly message_id: string | null;
  /** The message that failed. One of a flow starts nothing. */
  readonly failed_id?: string;
}

/** Undefined for an event that starts nothing. */
type ReadSource<Name extends TriggerEvent> = (event: Event<Name>) => Source | undefined;

export const sources: { readonly [Name in TriggerEvent]: ReadSource<Name> } = {
  "message.received": ({ data: { conversation_id, message_id } }) => ({ conversation_id, message_id }),
  "message.failed": ({ data: { conversation_id, message_id } }) => {
    return { conversation_id, message_id: null, failed_id: message_id };
  },
  "conversation.opened": inConversation,
  "conversation.assigned": inConversation,
  "conversation.closed": inConversation,
};

/** Of a change, which a flow never causes: those are not emitted. */
function inConversation({ data }: { readonly data: { readonly conversation_id: string } }): Source {
  return { conversation_id: data.conversation_id, message_id: null };
}

export function sourceOf(event: Event): Source | undefined {
  // The table has the function for this event; TypeScript does not connect the two.
  const read = Object.hasOwn(sources, event.type)
    ? (sources[event.type as TriggerEvent] as (event: Event) => Source | undefined)
    : undefined;
  return read?.(event);
}
