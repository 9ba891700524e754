/** The tables of automation flows. */
import type { Json } from "./columns.ts";

/** A node of a flow, as it was sent, with its defaults. */
export type FlowNode = {
  readonly id: string;
  readonly node_type: string;
  readonly action_config: Readonly<Record<string, unknown>>;
  readonly parent_node_id: string | null;
  readonly connection_type: string;
  readonly connection_value: string | null;
  readonly sort_order: number;
};

export type EndActionConfig = {
  readonly team_id?: string | undefined;
  readonly user_id?: string | undefined;
  /** A time or a duration. */
  readonly until?: string | undefined;
};

/** What a run waits for, in a node. */
export type FlowWait = {
  readonly node_id: string;
  readonly for: "time" | "reply";
  /** The latest message of the contact when the wait began: only a later one is a reply. */
  readonly after: string | null;
  /** The replies that were not valid. */
  readonly attempts: number;
  /** Null while it waits. */
  readonly ended_by: "reply" | "timeout" | null;
};

/** What a step did, by ids and codes. */
export type FlowStepDetail = {
  readonly next: readonly string[];
  readonly message_id: string | null;
  readonly error: string | null;
  readonly missing: readonly string[];
};

export interface FlowTables {
  flows: {
    organization_id: string;
    id: string;
    name: string;
    description: string | null;
    inbox_id: string | null;
    is_enabled: boolean;
    trigger_type: "keyword" | "event" | "schedule";
    trigger_keyword: string | null;
    trigger_match: "word" | "exact" | "contains" | "starts_with" | "regex" | null;
    trigger_event_type:
      | "message.received"
      | "message.failed"
      | "conversation.opened"
      | "conversation.assigned"
      | "conversation.closed"
      | null;
    trigger_schedule: string | null;
    trigger_schedule_at: string | null;
    trigger_schedule_timezone: string | null;
    cohort_id: string | null;
    next_run_at: string | null;
    priority: number;
    version: number;
    created_at: string;
    updated_at: string;
  };
  flow_versions: {
    organization_id: string;
    flow_id: string;
    version: number;
    nodes: Json<readonly FlowNode[]>;
    end_action_type: "none" | "assign" | "resolve" | "snooze" | "unassign";
    end_action_config: Json<EndActionConfig>;
    is_interactive: boolean;
  };
  flow_runs: {
    organization_id: string;
    id: string;
    flow_id: string;
    version: number;
    conversation_id: string;
    contact_id: string;
    status: "running" | "waiting" | "completed" | "failed" | "cancelled";
    reason: string | null;
    trigger_type: "keyword" | "event" | "schedule" | "manual" | "flow";
    trigger_key: string | null;
    is_interactive: boolean;
    message_id: string | null;
    /** The nodes to run, the next one first. */
    pending: Json<readonly string[]>;
    steps: number;
    variables: Json<Readonly<Record<string, unknown>>>;
    wait: Json<FlowWait> | null;
    due_at: string | null;
    episode: number;
    created_at: string;
    ended_at: string | null;
  };
  flow_firings: {
    organization_id: string;
    id: string;
    flow_id: string;
    due_at: string;
    status: "running" | "completed" | "stopped" | "failed";
    after_id: string;
    before_batch_id: string;
    started: number;
    created_at: string;
    ended_at: string | null;
  };
  flow_run_steps: {
    organization_id: string;
    run_id: string;
    number: number;
    node_id: string;
    node_type: string;
    outcome: string;
    detail: Json<FlowStepDetail>;
    at: string;
  };
}
