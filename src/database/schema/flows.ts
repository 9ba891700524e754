/** Columns of automation flows. */
import type { SealedText } from "./columns.ts";

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

export type StoredEndActionConfig = {
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

/** The result of a call: a response with any status, or the code of the error. */
export type FlowCallResult = { readonly status: number; readonly body: unknown } | { readonly error: string };

/** What a run waits for in a node. */
export type FlowWait = {
  readonly node_id: string;
  readonly for: "time" | "reply" | "response";
  /** The id of the contact's latest message when the wait began. Only a later message is a reply. */
  readonly after: string | null;
  /** How many replies were not valid. */
  readonly attempts: number;
  /** Null while the run waits. */
  readonly ended_by: "reply" | "timeout" | "response" | null;
  /** For a response: the request, whether the call has begun, and the result of the call. */
  readonly request?: FlowCallRequest;
  readonly is_called?: boolean;
  readonly result?: FlowCallResult;
};

/** What a step did, in ids and codes. */
export type FlowStepDetail = {
  readonly next: readonly string[];
  readonly message_id: string | null;
  readonly error: string | null;
  readonly missing: readonly string[];
  /** The nodes whose regular expression took too long; absent if there are none. */
  readonly timed_out?: readonly string[];
};

export interface FlowColumns {
  flows: {
    trigger_type: "keyword" | "event" | "schedule";
    trigger_match: "word" | "exact" | "contains" | "starts_with" | "regex";
    trigger_event_type:
      | "message.received"
      | "message.failed"
      | "conversation.created"
      | "conversation.opened"
      | "conversation.assigned"
      | "conversation.closed"
      | "contact.created"
      | "contact.tag_added"
      | "window.expiring";
    /** The scopes that the flow needed when it was saved; null if an earlier version saved it. */
    scopes: string[];
    /** The user whose role limits the flow; null for a key that no user created. */
    creator_id: string;
  };
  flow_versions: {
    nodes: readonly FlowNode[];
    end_action_type: "none" | "assign" | "resolve" | "snooze" | "unassign" | "handoff_chatbot";
    end_action_config: StoredEndActionConfig;
  };
  /** The values of secret headers. */
  flow_secrets: {
    /** In lower case. */
    header: string;
    value: SealedText;
  };
  flow_runs: {
    status: "running" | "waiting" | "completed" | "failed" | "cancelled";
    trigger_type: "keyword" | "event" | "schedule" | "manual" | "flow";
    /** The nodes to run, the next node first. */
    pending: readonly string[];
    variables: Readonly<Record<string, unknown>>;
    wait: FlowWait;
  };
  flow_firings: {
    status: "running" | "completed" | "stopped" | "failed";
  };
  flow_run_steps: {
    detail: FlowStepDetail;
  };
}
