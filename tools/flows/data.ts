/** A flow and a run of a flow, as the API shows them. */
import { z } from "zod";
import { inputTimestamp, jsonObject, nearestName, tag, timestamp, untrusted } from "../contract/index.ts";
import { connectionTypes, duration, nodeTypes } from "./nodes/index.ts";

/**
 * The triggers of a flow. To add a type, add its name here, its fields to `triggerFields`, its rule to
 * `requireTrigger` (`trigger.ts`), and its code to `src/platform/automation/flows/triggers/`.
 */
export const triggerTypes = ["keyword", "event", "schedule"] as const;
export type TriggerType = (typeof triggerTypes)[number];

/**
 * The events that can start a flow. `src/platform/automation/flows/triggers/sources.ts` defines what each
 * event refers to.
 */
export const triggerEvents = [
  "message.received",
  "message.failed",
  "conversation.created",
  "conversation.opened",
  "conversation.assigned",
  "conversation.closed",
  "contact.created",
  "contact.tag_added",
  "window.expiring",
] as const;
export type TriggerEvent = (typeof triggerEvents)[number];

/** How a keyword is compared with a message. word: as whole words, anywhere in the message. */
export const keywordMatches = ["word", "exact", "contains", "starts_with", "regex"] as const;
export type KeywordMatch = (typeof keywordMatches)[number];

export const endActions = ["none", "assign", "resolve", "snooze", "unassign", "handoff_chatbot"] as const;
export type EndAction = (typeof endActions)[number];

/** The most nodes. A larger graph is split with start_flow. */
export const maxNodes = 200;

/** A name of a list. For an unknown name, the error suggests the nearest name. */
export function oneOf<const Names extends readonly [string, ...string[]]>(names: Names) {
  return z.enum(names, {
    error({ input }) {
      const nearest = typeof input === "string" ? nearestName(input, names) : undefined;
      const suggestion = nearest === undefined ? "" : ` Did you mean ${nearest}?`;
      return `Send one of these: ${names.join(", ")}.${suggestion}`;
    },
  });
}

export const Node = z.object({
  id: z.string().min(1).max(64),
  node_type: oneOf(nodeTypes),
  action_config: jsonObject.default({}),
  // Null for the first node.
  parent_node_id: z.string().max(64).nullish(),
  connection_type: oneOf(connectionTypes).default("always"),
  connection_value: z.string().max(1024).nullish(),
  sort_order: z.int32().default(0),
});

/** The fields of end actions: the target of an assignment, the time of a snooze. */
export const EndActionConfig = z.strictObject({
  team_id: z.string().max(64).optional(),
  user_id: z.string().max(64).optional(),
  until: z
    .string()
    .max(64)
    .refine(
      (text) => duration.safeParse(text).success || inputTimestamp.safeParse(text).success,
      "Send a duration, for example 4h, or a time with its offset, for example 2030-01-31T09:00:00Z.",
    )
    .optional(),
});

/** The audience of a schedule, and the tag for contact.tag_added. */
export const FlowSettings = z.strictObject({
  cohort_id: z.string().max(64).optional(),
  tag: tag.optional(),
});

export const Flow = z.object({
  id: z.string(),
  organization_id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  inbox_id: z.string().nullable(),
  is_enabled: z.boolean(),
  /**
   * Whether the flow was saved before flows had the scopes of their creator, so that it should be saved
   * again.
   */
  needs_review: z.boolean(),
  trigger_type: z.enum(triggerTypes),
  trigger_keyword: z.string().nullable(),
  trigger_match: z.enum(keywordMatches).nullable(),
  trigger_event_type: z.enum(triggerEvents).nullable(),
  /** A cron pattern of five fields; null for a single time, and for other triggers. */
  trigger_schedule: z.string().nullable(),
  trigger_schedule_at: timestamp.nullable(),
  trigger_schedule_timezone: z.string().nullable(),
  /**
   * When the schedule starts the flow next; null while the flow is disabled, and if there is no next time.
   */
  next_run_at: timestamp.nullable(),
  settings: z.object({
    /** The cohort for which the schedule starts the flow; null: the open conversations. */
    cohort_id: z.string().nullable(),
    /** The tag that starts the flow when it is added; null: any tag. */
    tag: z.string().nullable(),
  }),
  priority: z.int(),
  end_action_type: z.enum(endActions),
  end_action_config: z.object({
    team_id: z.string().optional(),
    user_id: z.string().optional(),
    until: z.string().optional(),
  }),
  /** Increases when the nodes or the end action change. */
  version: z.int(),
  nodes: z.array(
    z.object({
      id: z.string(),
      node_type: z.enum(nodeTypes),
      action_config: z.record(z.string(), z.unknown()),
      parent_node_id: z.string().nullable(),
      connection_type: z.enum(connectionTypes),
      connection_value: z.string().nullable(),
      sort_order: z.int(),
    }),
  ),
  created_at: timestamp,
  updated_at: timestamp,
});

/** Also has warnings about what is valid, but probably not what its author wants. */
export const SavedFlow = Flow.extend({
  warnings: z.array(z.object({ field: z.string(), code: z.string(), message: z.string(), fix: z.string() })),
});

/**
 * running: the next step is due; waiting: for a time, a reply or the response to a call. The other statuses
 * are final.
 */
export const runStatuses = ["running", "waiting", "completed", "failed", "cancelled"] as const;
export type RunStatus = (typeof runStatuses)[number];

export const runTriggers = ["keyword", "event", "schedule", "manual", "flow"] as const;

export const FlowRun = z.object({
  id: z.string(),
  organization_id: z.string(),
  flow_id: z.string(),
  /** The version of the flow that the run uses. */
  version: z.int(),
  conversation_id: z.string(),
  contact_id: z.string(),
  status: z.enum(runStatuses),
  /** Why the run failed, was cancelled, or ended without a reply; null otherwise. */
  reason: z.string().nullable(),
  trigger_type: z.enum(runTriggers),
  /** The node in which the run waits, or the next node; null at the end. */
  node_id: z.string().nullable(),
  waiting_for: z.enum(["time", "reply", "response"]).nullable(),
  /** When the wait ends by itself. */
  due_at: timestamp.nullable(),
  steps: z.int(),
  created_at: timestamp,
  ended_at: timestamp.nullable(),
});

const Step = z.object({
  number: z.int(),
  node_id: z.string(),
  node_type: z.string(),
  /** next, wait, call, reply, invalid, timeout, goto, end or error. */
  outcome: z.string(),
  /** The nodes that follow. */
  next: z.array(z.string()),
  message_id: z.string().nullable(),
  /** The code of the error. */
  error: z.string().nullable(),
  /** Placeholders without a value. */
  missing: z.array(z.string()),
  /** Nodes whose regular expression took too long: it counts as not matched. */
  timed_out: z.array(z.string()),
  at: timestamp,
});

export const FlowRunDetails = FlowRun.extend({
  /** The contact's answers and the responses to calls, keyed by save_as. */
  variables: untrusted(z.record(z.string(), z.unknown())),
  path: z.array(Step),
});
