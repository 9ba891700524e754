/** Conversations: one thread for each contact and inbox. */
import { z } from "zod";
import { id, timestamp, untrusted, userId } from "./fields.ts";
import { one, operation, paged, paging } from "./operation.ts";

export const conversationStatuses = ["open", "pending", "closed", "snoozed", "spam"] as const;
export type ConversationStatus = (typeof conversationStatuses)[number];

export const conversationFilters = ["assigned_to_me", "unassigned", "unanswered", "expired_window"] as const;

const Conversation = z.object({
  id: z.string(),
  organization_id: z.string(),
  inbox_id: z.string(),
  contact_id: z.string(),
  contact_name: untrusted(z.string()).nullable(),
  phone_number: z.string().nullable(),
  platform: z.string(),
  status: z.enum(conversationStatuses),
  last_message_at: timestamp.nullable(),
  last_user_message_at: timestamp.nullable(),
  is_within_24h_window: z.boolean(),
  window_expires_at: timestamp.nullable(),
  is_expired: z.boolean(),
  is_favorite: z.boolean(),
  assigned_to: z.string().nullable(),
  assigned_to_name: z.string().nullable(),
  team_id: z.string().nullable(),
  created_at: timestamp,
  updated_at: timestamp,
});

const Assignment = z.object({
  id: z.string(),
  conversation_id: z.string(),
  /** Null when only a team was named and nobody there is free. */
  assigned_to: z.string().nullable(),
  assigned_by: z.string().nullable(),
  assignment_type: z.string(),
  reason: z.string().nullable(),
  created_at: timestamp,
});

const conversationId = id("Conversation", "list_conversations");
const reason = z.string().max(1000).optional().describe("Why");

export const conversations = {
  list_conversations: operation({
    method: "GET",
    path: "/v1/conversations",
    scope: "inbox:read",
    title: "List conversations",
    description:
      "List conversations, the one with the latest message first. is_within_24h_window tells whether free text may be sent.",
    input: z.object({
      inbox_id: z.string().optional().describe("Only this inbox"),
      contact_id: z.string().optional().describe("Only this contact, id from list_contacts"),
      team_id: z.string().optional().describe("Only this team"),
      status: z.enum(conversationStatuses).optional().describe("Only this status"),
      filter: z
        .enum(conversationFilters)
        .optional()
        .describe("unanswered: the contact wrote last; expired_window: no longer open to free text"),
      ...paging(25),
    }),
    output: paged(
      Conversation.pick({
        id: true,
        contact_id: true,
        contact_name: true,
        phone_number: true,
        platform: true,
        status: true,
        last_message_at: true,
        is_within_24h_window: true,
        assigned_to: true,
        created_at: true,
        updated_at: true,
      }),
    ),
  }),

  get_conversation: operation({
    method: "GET",
    path: "/v1/conversations/{id}",
    scope: "inbox:read",
    title: "Get conversation",
    description: "Get one conversation: its contact, status, assignee and when its 24-hour window closes.",
    input: z.object({ id: conversationId }),
    output: one(Conversation),
  }),

  assign_conversation: operation({
    method: "POST",
    path: "/v1/conversations/{id}/assign",
    scope: "inbox:write",
    title: "Assign conversation",
    description:
      "Assign a conversation to an agent, a team or both; a team alone chooses an agent by its policy. transfer_conversation hands it over.",
    input: z
      .object({
        id: conversationId,
        assigned_to: userId.optional(),
        team_id: id("Team", "create_team").optional(),
        reason,
      })
      .superRefine(({ assigned_to, team_id }, context) => {
        if (assigned_to === undefined && team_id === undefined) {
          context.addIssue({
            code: "custom",
            path: ["assigned_to"],
            message: "Send assigned_to, team_id or both.",
          });
        }
      }),
    output: one(Assignment),
    hints: { destructive: true },
  }),

  transfer_conversation: operation({
    method: "POST",
    path: "/v1/conversations/{id}/transfer",
    scope: "inbox:write",
    title: "Transfer conversation",
    description:
      "Hand a conversation over from its present agent to another. Refused if from_agent is not the one assigned; get_conversation tells who is.",
    input: z.object({
      id: conversationId,
      from_agent: userId.describe("User id of the present agent, from get_conversation"),
      to_agent: userId.describe("User id of the agent who takes over"),
      reason,
    }),
    output: one(Assignment),
    hints: { destructive: true },
  }),
};
