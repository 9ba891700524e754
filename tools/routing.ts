/** Routing: the policies that assign waiting conversations to agents. */
import { z } from "zod";
import {
  DeletionResult,
  type ErrorEntry,
  errorEntry,
  id,
  inboxId,
  inputTimestamp,
  jsonObject,
  one,
  operation,
  paged,
  paging,
  phone,
  tags,
  timestamp,
} from "./contract/index.ts";

export const routingStrategies = [
  "round_robin",
  "weighted",
  "load_balanced",
  "skills_based",
  "sticky",
] as const;
export type RoutingStrategy = (typeof routingStrategies)[number];
export const routingTargets = ["team", "user"] as const;

/** What triggered a routing decision. */
export const routingTriggers = ["inbound", "assign", "capacity", "escalation", "requeue", "reopen"] as const;
/** The result of a routing decision. */
export const routingOutcomes = ["assigned", "queued", "unmatched"] as const;
/** Why an agent was skipped. */
export const skipReasons = [
  "unavailable",
  "inactive",
  "team_inactive",
  "at_capacity",
  "lacks_skills",
  "not_next",
  "not_last_agent",
] as const;

const RoutingPolicy = z.object({
  id: z.string(),
  organization_id: z.string(),
  name: z.string(),
  description: z.string(),
  strategy: z.enum(routingStrategies),
  priority: z.int(),
  conditions: z.record(z.string(), z.unknown()),
  target_type: z.enum(routingTargets),
  target_id: z.string().nullable(),
  settings: z.record(z.string(), z.unknown()),
  is_active: z.boolean(),
  created_at: timestamp,
  updated_at: timestamp,
});

export const Candidate = z.object({
  user_id: z.string(),
  name: z.string(),
  team_id: z.string().nullable(),
  current_chat_count: z.int().nullable(),
  max_concurrent_chats: z.int().nullable(),
  /** Why this agent was skipped; null for the chosen agent. */
  passed_over: z.enum(skipReasons).nullable(),
});

const Decision = z.object({
  id: z.string(),
  conversation_id: z.string(),
  trigger: z.enum(routingTriggers),
  outcome: z.enum(routingOutcomes),
  /** The decision in a sentence. */
  explanation: z.string(),
  policy_id: z.string().nullable(),
  policy_name: z.string().nullable(),
  strategy: z.enum(routingStrategies).nullable(),
  team_id: z.string().nullable(),
  assigned_to: z.string().nullable(),
  candidates: z.array(Candidate),
  created_at: timestamp,
});

const name = z.string().min(1).max(255).describe("Name");
const description = z.string().max(1000).describe("Purpose");
const strategy = z.enum(routingStrategies).describe("How to choose the agent; sticky: the contact's last");
const priority = z.int32().describe("Higher is matched first");
const conditions = jsonObject.describe(
  'Query like {"attribute":"conversation.tags","operator":"has_any","value":["billing"]}',
);
const target_type = z.enum(routingTargets).describe("Type of target_id");
const target_id = id("Team or user", "list_teams").describe("Default: all active teams by tier");
const settings = jsonObject.describe(
  'weighted {"weights":{"<user id>":2}}, skills_based {"required_skills":["fr"]}, sticky {"ttl_days":30}, all {"escalate_after_seconds":120,"requeue_after_seconds":300}',
);
const is_active = z.boolean().describe("Whether it is active");
const policyId = id("Routing policy", "list_routing_policies");
const conversationId = id("Conversation", "list_conversations");

/** A conversation that does not exist, with the first message of its contact. */
const NewConversation = z.object({
  inbox_id: inboxId.optional().describe("By default the first inbox"),
  from: phone
    .optional()
    .describe("Phone number of the contact; a known contact has its tags, attributes and last agent"),
  text: z.string().max(4096).optional().describe("Text of the first message"),
  tags: tags.describe("Tags of the conversation"),
  at: inputTimestamp.optional().describe("When the message arrives; by default now"),
});

export const routing = {
  create_routing_policy: operation({
    method: "POST",
    path: "/v1/routing/policies",
    scope: "inbox:write",
    title: "Create routing policy",
    description: "Create a policy that assigns new conversations to a team or a user.",
    input: z.object({
      name,
      description: description.default(""),
      strategy,
      priority: priority.default(0),
      conditions: conditions.default({}),
      target_type,
      target_id: target_id.optional(),
      settings: settings.default({}),
      is_active: is_active.default(true),
    }),
    output: one(RoutingPolicy),
    status: 201,
  }),

  list_routing_policies: operation({
    method: "GET",
    path: "/v1/routing/policies",
    scope: "inbox:read",
    tier: "extended",
    title: "List routing policies",
    description: "List the routing policies in matching order.",
    input: z.object(paging(25)),
    output: paged(RoutingPolicy),
  }),

  get_routing_policy: operation({
    method: "GET",
    path: "/v1/routing/policies/{id}",
    scope: "inbox:read",
    title: "Get routing policy",
    description: "Get one routing policy with its conditions and settings.",
    input: z.object({ id: policyId }),
    output: one(RoutingPolicy),
    tier: "extended",
  }),

  update_routing_policy: operation({
    method: "PUT",
    path: "/v1/routing/policies/{id}",
    scope: "inbox:write",
    tier: "extended",
    title: "Update routing policy",
    description:
      "Change, activate or deactivate a routing policy. Only the fields sent change; conditions and settings as a whole.",
    input: z.object({
      id: policyId,
      name: name.optional(),
      description: description.optional(),
      strategy: strategy.optional(),
      priority: priority.optional(),
      conditions: jsonObject.describe("Query. Form: create_routing_policy").optional(),
      target_type: target_type.optional(),
      target_id: target_id.optional(),
      settings: jsonObject.describe("Object. Form: create_routing_policy").optional(),
      is_active: is_active.optional(),
    }),
    output: one(RoutingPolicy),
  }),

  delete_routing_policy: operation({
    method: "DELETE",
    path: "/v1/routing/policies/{id}",
    scope: "inbox:write",
    tier: "extended",
    title: "Delete routing policy",
    description: "Delete a routing policy. Assigned conversations keep their agents.",
    input: z.object({ id: policyId }),
    output: one(DeletionResult),
  }),

  simulate_routing: operation({
    method: "POST",
    path: "/v1/routing/simulate",
    scope: "inbox:read",
    title: "Simulate routing",
    description:
      "Find which agent a conversation would be assigned to now, or a new one that is described, and why, without assigning it. Uses the active policies, or one, also an inactive one. Load and skills are those of now.",
    input: z
      .object({
        conversation_id: conversationId.optional(),
        new_conversation: NewConversation.optional().describe("Instead of conversation_id"),
        policy_id: policyId.optional().describe("Only this policy, from list_routing_policies"),
      })
      .superRefine(({ conversation_id, new_conversation }, context) => {
        if ((conversation_id === undefined) === (new_conversation === undefined)) {
          const message = "Send either conversation_id or new_conversation.";
          context.addIssue({ code: "custom", path: ["conversation_id"], message });
        }
      }),
    output: one(
      Decision.omit({ id: true, trigger: true, created_at: true }).extend({
        /** Null for a new conversation. */
        conversation_id: z.string().nullable(),
      }),
    ),
    effect: "read",
    tier: "extended",
  }),

  list_routing_decisions: operation({
    method: "GET",
    path: "/v1/conversations/{id}/routing-decisions",
    scope: "inbox:read",
    title: "List routing decisions",
    description:
      "List a conversation's routing decisions, newest first, with the candidates and why each was skipped.",
    input: z.object({ id: conversationId, ...paging(25) }),
    output: paged(Decision),
    tier: "extended",
  }),
};

export const routingErrors = {
  routing_policy_not_found: errorEntry(
    "not_found",
    404,
    "There is no routing policy with this id.",
    "Find the id with list_routing_policies (GET /v1/routing/policies).",
  ),
} as const satisfies Record<string, ErrorEntry>;
