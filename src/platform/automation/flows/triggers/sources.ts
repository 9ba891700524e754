/**
 * The events that start flows, and what each event refers to.
 *
 * To add an event, add its name to `triggerEvents` (`tools/flows/data.ts`) and its entry here; the recorder
 * and the jobs need no change. An event that a flow's action can cause needs its actor: what a flow does
 * starts no flow, so that flows don't start each other in a circle.
 */
import type { Event } from "../../../../../tools/events.ts";
import type { TriggerEvent } from "../../../../../tools/flows/index.ts";

/** Something that happened in a conversation. */
export interface ConversationSource {
  readonly conversation_id: string;
  /**
   * The message that the contact wrote. The message is compared with keywords, and is the reply that a run
   * waits for.
   */
  readonly message_id: string | null;
  /** The message that failed. A message that a flow sent starts nothing. */
  readonly failed_id?: string;
  /** The time of the contact's message whose window expires. A later message has started a new window. */
  readonly last_user_message_at?: string;
}

/** Something that happened to a contact, who may have no conversation. */
export interface ContactSource {
  readonly contact_id: string;
  /** The tags that were added. */
  readonly tags?: string[];
}

export type TriggerSource = ConversationSource | ContactSource;

type ReadSource<Name extends TriggerEvent> = (event: Event<Name>) => TriggerSource;

const sources: { readonly [Name in TriggerEvent]: ReadSource<Name> } = {
  "message.received": ({ data: { conversation_id, message_id } }) => ({ conversation_id, message_id }),
  "message.failed": ({ data: { conversation_id, message_id } }) => {
    return { conversation_id, message_id: null, failed_id: message_id };
  },
  "conversation.created": inConversation,
  "conversation.opened": inConversation,
  "conversation.assigned": inConversation,
  "conversation.closed": inConversation,
  "contact.created": ({ data: { contact_id } }) => ({ contact_id }),
  "contact.tag_added": ({ data: { contact_id, tags } }) => ({ contact_id, tags }),
  "window.expiring": ({ data }) => ({ ...data, message_id: null }),
};

function inConversation({ data }: { readonly data: { readonly conversation_id: string } }): TriggerSource {
  return { conversation_id: data.conversation_id, message_id: null };
}

/** Returns undefined for an event that starts nothing. */
export function sourceOf(event: Event): TriggerSource | undefined {
  if ("actor" in event.data && event.data.actor.type === "flow") {
    return undefined;
  }
  // The table has the function for this event; TypeScript does not connect the two.
  const read = Object.hasOwn(sources, event.type)
    ? (sources[event.type as TriggerEvent] as (event: Event) => TriggerSource)
    : undefined;
  return read?.(event);
}
