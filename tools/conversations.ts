/** Conversations: one for each contact and inbox. */
import { z } from "zod";
import {
  actorTypes,
  type ErrorEntry,
  errorEntry,
  id,
  inputTimestamp,
  no,
  one,
  operation,
  paged,
  paging,
  RecordedActor,
  tag,
  tags,
  timestamp,
  untrusted,
  userId,
  yes,
} from "./contract/index.ts";
import { messageStatuses } from "./message-statuses.ts";
import { ReferralPart } from "./referrals.ts";
import { TeamWarning } from "./teams.ts";

export const conversationStatuses = ["open", "pending", "closed", "snoozed", "spam"] as const;
export type ConversationStatus = (typeof conversationStatuses)[number];

export const conversationFilters = [
  "assigned_to_me",
  "unassigned",
  "assigned_to_others",
  "mine_or_unassigned",
  "favorite",
  "unread",
  "unread_by_me",
  "mentions_me",
  "unread_mentions",
  "unanswered",
  "expired_window",
] as const;

/** latest: by the time of the last message, newest first; waiting: longest unanswered first. */
export const conversationOrders = ["latest", "waiting"] as const;

/** How a conversation was assigned or unassigned. */
export const assignmentTypes = ["manual", "transfer", "routing", "unassign"] as const;

const Referral = ReferralPart.extend({ at: timestamp });

export const Conversation = z.object({
  id: z.string(),
  organization_id: z.string(),
  inbox_id: z.string(),
  contact_id: z.string(),
  contact_name: untrusted(z.string()).nullable(),
  phone_number: z.string().nullable(),
  platform: z.string(),
  status: z.enum(conversationStatuses),
  /** Null unless the conversation is snoozed until a time. */
  snoozed_until: timestamp.nullable(),
  tags: z.array(z.string()),
  last_message_at: timestamp.nullable(),
  last_user_message_at: timestamp.nullable(),
  is_within_24h_window: z.boolean(),
  window_expires_at: timestamp.nullable(),
  is_expired: z.boolean(),
  is_favorite: z.boolean(),
  is_unread: z.boolean(),
  /** The contact's messages since the conversation was last read; 0 if it is read. */
  unread_count: z.int(),
  /**
   * For a signed-in person: whether the contact has written since this person marked the conversation as
   * read last. Absent for API keys.
   */
  is_unread_by_me: z.boolean().optional(),
  /**
   * Since when the contact has been waiting for an answer. Broadcasts, messages of flows and templates are no
   * answers, except a template that a person or a key sends to the conversation itself, or as a quote.
   */
  waiting_since: timestamp.nullable(),
  assigned_to: z.string().nullable(),
  assigned_to_name: z.string().nullable(),
  team_id: z.string().nullable(),
  /** The first and the latest ad or post by which the contact came to write; absent if by none. */
  referrals: untrusted(z.object({ first: Referral, latest: Referral })).optional(),
  created_at: timestamp,
  updated_at: timestamp,
});

/** A summary of the latest message. */
const Preview = z.object({
  direction: z.enum(["outbound", "inbound"]),
  type: z.string(),
  text: untrusted(z.string()).nullable(),
  status: z.enum(messageStatuses),
  /** Null for inbound messages and in older records. */
  sent_by: RecordedActor.extend({
    /** The MCP tool by which an assistant sent it. */
    tool: z.string().optional(),
  }).nullable(),
});

/** A summary of the latest internal note. */
const NotePreview = z.object({
  text: untrusted(z.string()),
  author: RecordedActor,
  /** The ids of the users whom it is for. */
  mentions: z.array(z.string()),
  created_at: timestamp,
});

export const Assignment = z.object({
  id: z.string(),
  conversation_id: z.string(),
  /** Null if only a team was assigned, and none of its agents is free. */
  assigned_to: z.string().nullable(),
  /**
   * The id of the user or API key that assigned the conversation, or of the service for routing. Null in
   * older records.
   */
  assigned_by: z.string().nullable(),
  assigned_by_type: z.enum(actorTypes).nullable(),
  assignment_type: z.enum(assignmentTypes),
  team_id: z.string().nullable(),
  reason: z.string().nullable(),
  /** Whether the agent was already at capacity. */
  over_capacity: z.boolean(),
  created_at: timestamp,
});

const conversationId = id("Conversation", "list_conversations");
const reason = z.string().max(1000).optional().describe("Why");

export const conversations = {
  list_conversations: operation({
    method: "GET",
    path: "/v1/conversations",
    scope: "inbox:read",
    tier: "lean",
    title: "List conversations",
    description:
      "List conversations with latest message and note, and whether free text is allowed (is_within_24h_window).",
    input: z.object({
      inbox_id: z.string().max(64).optional().describe("Inbox id, from whoami"),
      contact_id: z.string().max(64).optional().describe("Contact id, from list_contacts"),
      team_id: z.string().max(64).optional().describe("Team id, from list_teams"),
      assigned_to: z.string().max(64).optional().describe("User id, from list_users"),
      tag: tag.optional().describe("With this tag"),
      status: z.enum(conversationStatuses).optional().describe("Status"),
      filter: z
        .enum(conversationFilters)
        .optional()
        .describe("unanswered: by person or bot; expired_window: no free text"),
      sort: z.enum(conversationOrders).default("latest").describe("waiting: longest first"),
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
        window_expires_at: true,
        assigned_to: true,
        assigned_to_name: true,
        team_id: true,
        tags: true,
        is_favorite: true,
        is_unread: true,
        unread_count: true,
        is_unread_by_me: true,
        waiting_since: true,
        created_at: true,
        updated_at: true,
      }).extend({ last_message: Preview.nullable(), last_note: NotePreview.nullable() }),
    ),
  }),

  get_conversation: operation({
    method: "GET",
    path: "/v1/conversations/{id}",
    scope: "inbox:read",
    title: "Get conversation",
    description: "Get one conversation: contact, status, agent, end of its 24-hour window.",
    input: z.object({ id: conversationId }),
    output: one(Conversation),
  }),

  update_conversation: operation({
    method: "PATCH",
    path: "/v1/conversations/{id}",
    scope: "inbox:write",
    tier: "lean",
    title: "Update conversation",
    description:
      "Change a conversation's status, tags or marks. A closed or snoozed one reopens when the contact writes.",
    input: z
      .object({
        id: conversationId,
        status: z.enum(conversationStatuses).optional().describe("From spam only open or closed"),
        snoozed_until: inputTimestamp.optional().describe("Default: until the contact writes"),
        is_favorite: z.boolean().optional().describe("Mark as favorite"),
        is_unread: z.boolean().optional().describe("false marks it as read"),
        add_tags: tags.describe("Like billing or skill:fr"),
        remove_tags: tags.describe("Tags"),
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
    hints: { destructive: yes("Nothing records which tags were removed.") },
  }),

  assign_conversation: operation({
    method: "POST",
    path: "/v1/conversations/{id}/assign",
    scope: "inbox:write",
    tier: "lean",
    title: "Assign conversation",
    description:
      "Assign a conversation to an agent, a team or both. For a team alone, its routing policy selects the agent. Change the agent with transfer_conversation.",
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
    output: one(Assignment.extend({ warnings: z.array(TeamWarning) })),
    hints: {
      destructive: no("It can be assigned again to the agent before."),
      idempotent: no("Each call records an assignment."),
    },
  }),

  unassign_conversation: operation({
    method: "POST",
    path: "/v1/conversations/{id}/unassign",
    scope: "inbox:write",
    title: "Unassign conversation",
    description:
      "Remove the agent from a conversation and leave it unassigned. Assign it to another agent with assign_conversation.",
    input: z.object({ id: conversationId, reason }),
    output: one(Assignment),
    hints: {
      destructive: no("It can be assigned to the agent again."),
      idempotent: yes("An unassigned conversation stays unassigned."),
    },
    tier: "extended",
  }),

  list_assignments: operation({
    method: "GET",
    path: "/v1/conversations/{id}/assignments",
    scope: "inbox:read",
    title: "List assignments",
    description:
      "List a conversation's assignments, newest first: the agent, who assigned it, and the reason.",
    input: z.object({ id: conversationId, ...paging(25) }),
    output: paged(Assignment),
    tier: "extended",
  }),

  transfer_conversation: operation({
    method: "POST",
    path: "/v1/conversations/{id}/transfer",
    scope: "inbox:write",
    title: "Transfer conversation",
    description: "Transfer a conversation from its current agent to another.",
    input: z.object({
      id: conversationId,
      from_agent: userId.describe("User id, from get_conversation"),
      to_agent: userId.describe("User id, from list_users"),
      reason,
    }),
    output: one(Assignment),
    hints: {
      destructive: no("It can be transferred back."),
      idempotent: yes("A second call finds another agent than from_agent, and changes nothing."),
    },
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
    "Send current_agent as from_agent. If it is null, use assign_conversation.",
  ),
  already_assigned: errorEntry(
    "conflict",
    409,
    "The conversation is already assigned to to_agent.",
    "Send the id of another user as to_agent, from list_users.",
  ),
  status_not_allowed: errorEntry(
    "conflict",
    409,
    "A conversation can't change from {current_state} to {value}.",
    "Use one of: {allowed}.",
  ),
  snooze_not_in_future: errorEntry(
    "invalid_request",
    400,
    "snoozed_until must be in the future.",
    "Send a later time, or omit it to snooze until the contact writes.",
  ),
} as const satisfies Record<string, ErrorEntry>;
