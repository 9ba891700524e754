/** Conversations: one thread for each contact and inbox. */
import { z } from "zod";
import {
  type ErrorEntry,
  errorEntry,
  id,
  moment,
  one,
  operation,
  paged,
  paging,
  timestamp,
  untrusted,
  userId,
} from "./contract/index.ts";

export const conversationStatuses = ["open", "pending", "closed", "snoozed", "spam"] as const;
export type ConversationStatus = (typeof conversationStatuses)[number];

export const conversationFilters = [
  "assigned_to_me",
  "unassigned",
  "assigned_to_others",
  "mine_or_unassigned",
  "favorite",
  "unread",
  "unanswered",
  "expired_window",
] as const;

/** Latest: who wrote or was written to last comes first; waiting: who has waited longest for an answer. */
export const conversationOrders = ["latest", "waiting"] as const;

/** How a conversation came to its agent, or was taken off. */
export const assignmentTypes = ["manual", "transfer", "routing", "unassign"] as const;

export const Conversation = z.object({
  id: z.string(),
  organization_id: z.string(),
  inbox_id: z.string(),
  contact_id: z.string(),
  contact_name: untrusted(z.string()).nullable(),
  phone_number: z.string().nullable(),
  platform: z.string(),
  status: z.enum(conversationStatuses),
  /** Null while it is not snoozed, or snoozed until the next reply. */
  snoozed_until: timestamp.nullable(),
  tags: z.array(z.string()),
  last_message_at: timestamp.nullable(),
  last_user_message_at: timestamp.nullable(),
  is_within_24h_window: z.boolean(),
  window_expires_at: timestamp.nullable(),
  is_expired: z.boolean(),
  is_favorite: z.boolean(),
  is_unread: z.boolean(),
  /** Since when the contact has waited for an answer; null when we wrote last. */
  waiting_since: timestamp.nullable(),
  assigned_to: z.string().nullable(),
  assigned_to_name: z.string().nullable(),
  team_id: z.string().nullable(),
  created_at: timestamp,
  updated_at: timestamp,
});

/** The latest message in few words. */
const Preview = z.object({
  direction: z.enum(["outbound", "inbound"]),
  type: z.string(),
  text: untrusted(z.string()).nullable(),
});

export const Assignment = z.object({
  id: z.string(),
  conversation_id: z.string(),
  /** Null when only a team was named and nobody there is free. */
  assigned_to: z.string().nullable(),
  /** The user who did it, or for whom a key did; null for routing. */
  assigned_by: z.string().nullable(),
  assignment_type: z.enum(assignmentTypes),
  team_id: z.string().nullable(),
  reason: z.string().nullable(),
  /** Whether the agent had as many conversations as they may have. */
  over_capacity: z.boolean(),
  created_at: timestamp,
});

const conversationId = id("Conversation", "list_conversations");
const tag = z.string().trim().min(1).max(64);
const tags = z.array(tag).max(50).default([]);
const reason = z.string().max(1000).optional().describe("Why");

export const conversations = {
  list_conversations: operation({
    method: "GET",
    path: "/v1/conversations",
    scope: "inbox:read",
    title: "List conversations",
    description:
      "List conversations with a preview of the latest message. is_within_24h_window tells whether free text may be sent; get_conversation_context tells all about one.",
    input: z.object({
      inbox_id: z.string().optional().describe("Only this inbox"),
      contact_id: z.string().optional().describe("Only this contact, id from list_contacts"),
      team_id: z.string().optional().describe("Only this team"),
      assigned_to: z.string().optional().describe("Only this agent's, user id"),
      tag: tag.optional().describe("Only with this tag"),
      status: z.enum(conversationStatuses).optional().describe("Only this status"),
      filter: z
        .enum(conversationFilters)
        .optional()
        .describe("unanswered: the contact wrote last; expired_window: no longer open to free text"),
      sort: z
        .enum(conversationOrders)
        .default("latest")
        .describe("waiting: who has waited longest for an answer first"),
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
        assigned_to_name: true,
        team_id: true,
        tags: true,
        is_unread: true,
        waiting_since: true,
        created_at: true,
        updated_at: true,
      }).extend({ last_message: Preview.nullable() }),
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

  update_conversation: operation({
    method: "PATCH",
    path: "/v1/conversations/{id}",
    scope: "inbox:write",
    title: "Update conversation",
    description:
      "Close, reopen, snooze or mark a conversation as spam; tag it; mark it favorite or read. Only the fields sent change. A closed or snoozed one opens again by itself when the contact writes.",
    input: z
      .object({
        id: conversationId,
        status: z
          .enum(conversationStatuses)
          .optional()
          .describe("New status; spam is left by open or closed"),
        snoozed_until: moment
          .optional()
          .describe("With status snoozed: ISO 8601 time in the future; without it until the contact writes"),
        is_favorite: z.boolean().optional().describe("Whether it is a favorite"),
        is_unread: z.boolean().optional().describe("false marks it as read"),
        add_tags: tags.describe("Tags to add, for example billing or skill:fr"),
        remove_tags: tags.describe("Tags to take off"),
      })
      .superRefine(({ status, snoozed_until }, context) => {
        if (snoozed_until !== undefined && status !== "snoozed") {
          context.addIssue({
            code: "custom",
            path: ["snoozed_until"],
            message: "Send it together with status snoozed.",
          });
        }
      }),
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
        team_id: id("Team", "list_teams").optional(),
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

  unassign_conversation: operation({
    method: "POST",
    path: "/v1/conversations/{id}/unassign",
    scope: "inbox:write",
    title: "Unassign conversation",
    description:
      "Take a conversation off its agent and leave it to nobody. assign_conversation with a team_id gives it to another one.",
    input: z.object({ id: conversationId, reason }),
    output: one(Assignment),
    hints: { destructive: true },
    tier: "extended",
  }),

  list_assignments: operation({
    method: "GET",
    path: "/v1/conversations/{id}/assignments",
    scope: "inbox:read",
    title: "List assignments",
    description: "List who had a conversation, newest first, by whom it was given to them and why.",
    input: z.object({ id: conversationId, ...paging(25) }),
    output: paged(Assignment),
    tier: "extended",
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

export const conversationErrors = {
  conversation_not_found: errorEntry(
    "not_found",
    404,
    "There is no conversation with this id.",
    "Find the id with list_conversations (GET /v1/conversations).",
  ),
  wrong_agent: errorEntry(
    "conflict",
    409,
    "The conversation is not assigned to from_agent.",
    "Send the current_agent as from_agent, or use assign_conversation if there is none.",
  ),
  status_not_allowed: errorEntry(
    "conflict",
    409,
    "A conversation that is {current_state} can't become {value}.",
    "Use one of: {allowed}.",
  ),
  snooze_not_in_future: errorEntry(
    "invalid_request",
    400,
    "snoozed_until must be in the future.",
    "Send a later time, or leave it out to snooze until the contact writes.",
  ),
} as const satisfies Record<string, ErrorEntry>;
