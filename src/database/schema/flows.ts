/** The tables of automation flows. */
import type { Json, Sealed } from "./columns.ts";

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

/** An HTTP request of a node, with its placeholders filled in. */
export type FlowCallRequest = {
  readonly method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The names of further headers, whose values are sealed. */
  readonly secret_headers: readonly string[];
  readonly body: string | null;
  readonly timeout_ms: number;
};

/** What a call resulted in: a response with any status, or the code of the error. */
export type FlowCallResult = { readonly status: number; readonly body: unknown } | { readonly error: string };

/** What a run waits for, in a node. */
export type FlowWait = {
  readonly node_id: string;
  readonly for: "time" | "reply" | "response";
  /** The latest message of the contact when the wait began: only a later one is a reply. */
  readonly after: string | null;
  /** The replies that were not valid. */
  readonly attempts: number;
  /** Null while it waits. */
  readonly ended_by: "reply" | "timeout" | "response" | null;
  /** For a response: what to call, whether the call has begun, and what it resulted in. */
  readonly request?: FlowCallRequest;
  readonly is_called?: boolean;
  readonly result?: FlowCallResult;
};

/** What a step did, by ids and codes. */
export type FlowStepDetail = {
  readonly next: readonly string[];
  readonly message_id: string | null;
  readonly error: string | null;
  readonly missing: readonly string[];
  /** The nodes whose regular expression took too long; absent if there are none. */
  readonly timed_out?: readonly string[];
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
      | "conversation.created"
      | "conversation.opened"
      | "conversation.assigned"
      | "conversation.closed"
      | "contact.created"
      | "contact.tag_added"
      | "window.expiring"
      | null;
    trigger_schedule: string | null;
    trigger_schedule_at: string | null;
    trigger_schedule_timezone: string | null;
    cohort_id: string | null;
    trigger_tag: string | null;
    next_run_at: string | null;
    priority: number;
    version: number;
    /** What it needed when it was saved; null: an earlier version saved it. */
    scopes: string[] | null;
    /** The user within whose role it acts; null: a key that no user created. */
    creator_id: string | null;
    created_at: string;
    updated_at: string;
  };
  flow_window_sweeps: {
    organization_id: string;
    opened_until: string;
  };
  flow_versions: {
    organization_id: string;
    flow_id: string;
    version: number;
    nodes: Json<readonly FlowNode[]>;
    end_action_type: "none" | "assign" | "resolve" | "snooze" | "unassign" | "handoff_chatbot";
    end_action_config: Json<EndActionConfig>;
    is_interactive: boolean;
  };
  /** The values of secret headers. */
  flow_secrets: {
    organization_id: string;
    id: string;
    flow_id: string;
    version: number;
    node_id: string;
    /** In lower case. */
    header: string;
    value: Sealed;
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
