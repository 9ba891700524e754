/** Automation: flows of nodes, started by a keyword, an event or a schedule. */
import { z } from "zod";
import { id, inboxId, inputTimestamp, jsonObject, one, operation, timestamp } from "./contract/index.ts";

export const triggerTypes = ["keyword", "event", "schedule"] as const;

export const triggerEvents = [
  "message.received",
  "message.failed",
  "conversation.created",
  "conversation.opened",
  "conversation.assigned",
  "conversation.closed",
  "contact.created",
  "contact.tag_added",
  "template.rejected",
  "window.expiring",
] as const;

export const nodeTypes = [
  "send_message",
  "send_template",
  "ask",
  "wait",
  "wait_for_reply",
  "condition",
  "assign",
  "unassign",
  "add_tag",
  "remove_tag",
  "set_attribute",
  "set_status",
  "http_request",
  "chatbot",
  "start_flow",
  "add_note",
  "end",
] as const;

export const connectionTypes = [
  "always",
  "keyword",
  "button",
  "condition_true",
  "condition_false",
  "timeout",
  "error",
  "default",
] as const;

export const endActions = ["none", "assign", "resolve", "snooze", "handoff_chatbot", "unassign"] as const;

const node = z.object({
  id: z.string().min(1).max(64),
  node_type: z.enum(nodeTypes),
  action_config: jsonObject.default({}),
  // Null for the first node.
  parent_node_id: z.string().max(64).nullish(),
  connection_type: z.enum(connectionTypes).default("always"),
  connection_value: z.string().max(1024).nullish(),
  sort_order: z.int32().default(0),
});

const NewFlow = z
  .object({
    name: z.string().min(1).max(255).describe("Name"),
    description: z.string().max(1000).optional().describe("What the flow does"),
    inbox_id: inboxId.optional().describe("Only in this inbox"),
    trigger_type: z.enum(triggerTypes).describe("What starts the flow"),
    trigger_keyword: z
      .string()
      .trim()
      .min(1)
      .max(255)
      .optional()
      .describe("For keyword; separate several with commas"),
    trigger_event_type: z.enum(triggerEvents).optional().describe("For event"),
    trigger_schedule: z.string().min(1).max(255).optional().describe("For schedule: cron"),
    trigger_schedule_at: inputTimestamp.optional().describe("For schedule: one time"),
    trigger_schedule_timezone: z.string().min(1).max(64).optional().describe("IANA zone, default UTC"),
    priority: z.int32().default(0).describe("Higher runs first"),
    end_action_type: z.enum(endActions).describe("What to do at the end"),
    nodes: z
      .array(node)
      .min(1)
      .max(200)
      .describe(
        'Steps, linked by parent_node_id. action_config: send or ask {"text"}, wait {"duration":"4h"}, condition {"query"}, assign {"team_id"}',
      ),
  })
  .superRefine((flow, context) => {
    const reject = (field: keyof typeof flow, message: string) =>
      context.addIssue({ code: "custom", path: [field], message });
    const { trigger_type, trigger_schedule, trigger_schedule_at } = flow;
    if (trigger_type === "keyword" && flow.trigger_keyword === undefined) {
      reject("trigger_keyword", "A keyword flow needs trigger_keyword.");
    }
    if (trigger_type === "event" && flow.trigger_event_type === undefined) {
      reject("trigger_event_type", "An event flow needs trigger_event_type.");
    }
    if (trigger_type === "schedule" && trigger_schedule === undefined && trigger_schedule_at === undefined) {
      reject("trigger_schedule", "A schedule flow needs trigger_schedule or trigger_schedule_at.");
    }
    if (trigger_schedule !== undefined && trigger_schedule_at !== undefined) {
      reject("trigger_schedule_at", "Send trigger_schedule or trigger_schedule_at, not both.");
    }
  });

const Flow = z.object({
  id: z.string(),
  organization_id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  inbox_id: z.string().nullable(),
  is_enabled: z.boolean(),
  trigger_type: z.enum(triggerTypes),
  trigger_keyword: z.string().nullable(),
  trigger_event_type: z.string().nullable(),
  trigger_schedule: z.string().nullable(),
  trigger_schedule_at: timestamp.nullable(),
  trigger_schedule_timezone: z.string().nullable(),
  priority: z.int(),
  end_action_type: z.string(),
  nodes: z.array(
    z.object({
      id: z.string(),
      node_type: z.string(),
      action_config: z.record(z.string(), z.unknown()),
      parent_node_id: z.string().nullable(),
      connection_type: z.string(),
      connection_value: z.string().nullable(),
      sort_order: z.int(),
    }),
  ),
  created_at: timestamp,
  updated_at: timestamp,
});

const flowId = z.string().min(1).max(64).describe("Flow id");

export const automation = {
  create_flow: operation({
    method: "POST",
    path: "/v1/automation/flows",
    scope: "inbox:write",
    title: "Create flow",
    description:
      "Create an automation flow: steps started by a keyword, an event or a schedule. It is enabled immediately.",
    input: NewFlow,
    output: one(Flow),
    status: 201,
    hints: { destructive: true, openWorld: true },
  }),

  trigger_flow: operation({
    method: "POST",
    path: "/v1/automation/flows/{id}/trigger",
    scope: "inbox:write",
    title: "Trigger flow",
    description: "Run a flow in a conversation now, regardless of its trigger. It may send messages.",
    input: z.object({ id: flowId, conversation_id: id("Conversation", "list_conversations") }),
    output: one(z.object({ flow_id: z.string(), conversation_id: z.string(), status: z.string() })),
    hints: { destructive: true, openWorld: true },
  }),

  toggle_flow: operation({
    method: "PATCH",
    path: "/v1/automation/flows/{id}/toggle",
    scope: "inbox:write",
    title: "Toggle flow",
    description:
      "Disable an enabled flow, or enable a disabled one. is_enabled in the response is the new state.",
    input: z.object({ id: flowId }),
    output: one(Flow.pick({ id: true, name: true, is_enabled: true })),
    hints: { idempotent: false },
  }),
};
