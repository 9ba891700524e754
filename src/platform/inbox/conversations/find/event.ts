/** What the events of conversations tell of them. */
import type { EventData } from "../../../../../tools/events.ts";
import { type Actor, recordOf } from "../../../foundation/kernel/index.ts";
import type { ConversationRow } from "./select.ts";

/** The data of each event of a conversation. */
export function toConversationEvent(
  {
    id: conversation_id,
    contact_id,
    inbox_id,
    status,
    assigned_to,
    team_id,
  }: Omit<ConversationRow, "referrals">,
  actor: Actor,
): EventData<"conversation.created"> {
  return {
    conversation_id,
    contact_id,
    inbox_id,
    status,
    assigned_to,
    team_id,
    actor: recordOf(actor),
  };
}
