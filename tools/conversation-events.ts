/** The events of conversations. */
import { z } from "zod";
import { RecordedActor } from "./contract/index.ts";
import { conversationStatuses } from "./conversations.ts";

const ConversationChange = z.object({
  conversation_id: z.string(),
  contact_id: z.string(),
  inbox_id: z.string(),
  /** The status, agent and team after the change. */
  status: z.enum(conversationStatuses),
  assigned_to: z.string().nullable(),
  team_id: z.string().nullable(),
  /** Who caused it; the service itself where the contact did, or routing. */
  actor: RecordedActor,
});

export const conversationEvents = {
  "conversation.created": { scope: "inbox:read", data: ConversationChange },
  "conversation.opened": { scope: "inbox:read", data: ConversationChange },
  "conversation.assigned": { scope: "inbox:read", data: ConversationChange },
  "conversation.unassigned": { scope: "inbox:read", data: ConversationChange },
  "conversation.closed": { scope: "inbox:read", data: ConversationChange },
  "conversation.updated": {
    scope: "inbox:read",
    data: ConversationChange.extend({
      /** The fields that changed; get_conversation returns their values. */
      fields: z.array(z.enum(["status", "tags", "is_favorite", "is_unread"])),
    }),
  },
} as const;
