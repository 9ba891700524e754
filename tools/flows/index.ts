/** Automation flows: graphs of steps that answer contacts automatically. */
import { z } from "zod";
import {
  DeletionResult,
  describedForTools,
  id,
  inboxId,
  jsonObject,
  one,
  operation,
  paged,
  paging,
  yes,
} from "../contract/index.ts";
import { endActions, Flow, FlowRun, FlowRunDetails, maxNodes, Node, runStatuses, SavedFlow } from "./data.ts";
import { describeFlowNodes } from "./describe.ts";
import { rehearsalOperation } from "./rehearsal.ts";
import { requireTrigger, trigger_type, triggerFields } from "./trigger.ts";

export * from "./data.ts";
export { flowDescription } from "./describe.ts";
export { flowErrors } from "./errors.ts";
export { flowEvents } from "./events.ts";
export * from "./nodes/index.ts";
export { FlowRehearsal } from "./rehearsal.ts";

const flowId = id("Flow", "list_flows");
const runId = id("Flow run", "list_flow_runs");

const name = z.string().trim().min(1).max(255).describe("Name");
const description = z.string().max(1000).describe("Purpose");
const inbox_id = inboxId.describe("Only in this inbox");
const is_enabled = z.boolean().describe("Whether it starts");
const priority = z.int32().describe("Higher runs first");
const end_action_type = z.enum(endActions).describe("At the end");
const end_action_config = jsonObject.describe('assign {"team_id"}');
const nodes = z
  .array(Node)
  .min(1)
  .max(maxNodes)
  .describe("Linked by parent_node_id; describe_flow_nodes has each action_config");

const acts = {
  destructive: yes("A flow sends messages by itself."),
  openWorld: yes("A flow sends messages to people, and may call other systems."),
} as const;

export const flows = {
  describe_flow_nodes: describeFlowNodes,

  create_flow: operation({
    method: "POST",
    path: "/v1/automation/flows",
    scope: "inbox:write",
    title: "Create flow",
    description: "Create an automation flow. Try it before with rehearse_flow.",
    input: z
      .object({
        name,
        description: description.optional(),
        inbox_id: inbox_id.optional(),
        is_enabled: is_enabled.default(true),
        trigger_type,
        ...triggerFields,
        priority: priority.default(0),
        end_action_type,
        end_action_config: end_action_config.default({}),
        nodes,
      })
      .superRefine(requireTrigger),
    output: one(SavedFlow),
    status: 201,
    hints: acts,
  }),

  list_flows: operation({
    method: "GET",
    path: "/v1/automation/flows",
    scope: "inbox:read",
    title: "List flows",
    description: "List automation flows.",
    input: z.object(paging(25)),
    output: paged(Flow.omit({ nodes: true })),
  }),

  get_flow: operation({
    method: "GET",
    path: "/v1/automation/flows/{id}",
    scope: "inbox:read",
    tier: "extended",
    title: "Get flow",
    description: "Get a flow with its nodes. Change it with update_flow.",
    input: z.object({ id: flowId }),
    output: one(Flow),
  }),

  update_flow: operation({
    method: "PUT",
    path: "/v1/automation/flows/{id}",
    scope: "inbox:write",
    title: "Update flow",
    description:
      "Change a flow. Only the fields sent change; nodes replaces all nodes. Runs that have begun keep the nodes they began with.",
    input: z
      .object({
        id: flowId,
        name: name.optional(),
        description: describedForTools(description.nullable().optional(), "Purpose; empty removes it"),
        inbox_id: describedForTools(inbox_id.nullable().optional(), "Only in this inbox; empty: in all"),
        is_enabled: is_enabled.optional(),
        trigger_type: trigger_type.optional(),
        ...triggerFields,
        priority: priority.optional(),
        end_action_type: end_action_type.optional(),
        end_action_config: end_action_config.optional(),
        nodes: nodes.optional().describe("All steps, linked by parent_node_id"),
      })
      .superRefine(requireTrigger),
    output: one(SavedFlow),
    tier: "extended",
    hints: acts,
  }),

  delete_flow: operation({
    method: "DELETE",
    path: "/v1/automation/flows/{id}",
    scope: "inbox:write",
    title: "Delete flow",
    description: "Delete a flow and cancel its runs. To stop only new runs, use toggle_flow.",
    input: z.object({ id: flowId }),
    output: one(DeletionResult),
    tier: "extended",
  }),

  trigger_flow: operation({
    method: "POST",
    path: "/v1/automation/flows/{id}/trigger",
    scope: "inbox:write",
    title: "Trigger flow",
    description: "Run a flow in a conversation now.",
    input: z.object({ id: flowId, conversation_id: id("Conversation", "list_conversations") }),
    output: one(
      z.object({
        flow_id: z.string(),
        conversation_id: z.string(),
        run_id: z.string(),
        status: z.literal("triggered"),
      }),
    ),
    hints: acts,
  }),

  rehearse_flow: rehearsalOperation,

  toggle_flow: operation({
    method: "PATCH",
    path: "/v1/automation/flows/{id}/toggle",
    scope: "inbox:write",
    title: "Toggle flow",
    description: "Enable or disable a flow: as is_enabled says, or else the opposite of what it is.",
    input: z.object({ id: flowId, is_enabled: is_enabled.optional() }),
    output: one(Flow.pick({ id: true, name: true, is_enabled: true })),
    hints: acts,
    // A model that does not know the present state must not reverse it, so its tool requires the state.
    tools: {
      toggle_flow: {
        title: "Toggle flow",
        description: "Enable or disable a flow.",
        input: z.object({ id: flowId, is_enabled }),
      },
    },
  }),

  list_flow_runs: operation({
    method: "GET",
    path: "/v1/automation/runs",
    scope: "inbox:read",
    title: "List flow runs",
    description: "List runs of flows, newest first: their status, what they wait for, and why they ended.",
    input: z.object({
      flow_id: flowId.optional(),
      conversation_id: id("Conversation", "list_conversations").optional(),
      status: z.enum(runStatuses).optional().describe("Only this status"),
      ...paging(25),
    }),
    output: paged(FlowRun),
    tier: "extended",
  }),

  get_flow_run: operation({
    method: "GET",
    path: "/v1/automation/runs/{id}",
    scope: "inbox:read",
    title: "Get flow run",
    description:
      "Get a run with its variables and its path: each step, its outcome and its message or error.",
    input: z.object({ id: runId }),
    output: one(FlowRunDetails),
    tier: "extended",
  }),

  cancel_flow_run: operation({
    method: "POST",
    path: "/v1/automation/runs/{id}/cancel",
    scope: "inbox:write",
    title: "Cancel flow run",
    description: "Stop a run for good. Its end action is not performed; messages that are queued are sent.",
    input: z.object({ id: runId }),
    output: one(FlowRun),
    tier: "extended",
    hints: {
      destructive: yes("A cancelled run can't be continued."),
      idempotent: yes("A cancelled run stays cancelled."),
    },
  }),
};
