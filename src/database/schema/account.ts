/** Columns of organizations, their users, credentials and configuration. */
import type { JsonOrSealed, SealedText, StoredActor } from "./columns.ts";
import type { ReportedFailure } from "./inbox.ts";

/** Why an inbox can't send. */
export type InboxHealth = ReportedFailure & {
  /** Absent: `stopped`. */
  readonly status?: "unreachable";
  readonly since: string;
  /** The inbox's messages wait until this time. */
  readonly retry_at: string;
};

/** What the provider reports about an inbox's number. */
export type InboxNumberLimits = {
  /** How many people may get a message outside their windows in 24 hours; null: any number, or unknown. */
  readonly messaging_limit: number | null;
  readonly quality: "green" | "yellow" | "red" | null;
  readonly messages_per_second: number | null;
};

export type InboxAlert = {
  readonly type: string | null;
  readonly title: string;
  readonly advice: string;
  readonly reported_at: string;
};

export interface AccountColumns {
  organizations: {
    /** In millionths of the currency's unit; null applies the setting. */
    credit_limit: number;
    /** In millionths of the currency's unit; null: no threshold. */
    low_balance_threshold: number;
    /** Null: always open. */
    business_hours: unknown;
    /** Null: not suspended. */
    suspended_at: string;
    /** Limits that replace the limits in the settings. */
    limits: Readonly<Record<string, number>>;
  };
  /** The rules of a key or of all callers through MCP, and the settings of the organization. */
  rule_sets: {
    content: unknown;
    changed_by: StoredActor;
  };
  /** What is used of the budgets of a holder in a day or a month. */
  budget_uses: {
    /** The id of a key, `mcp` or `organization`. */
    holder: string;
  };
  /** Whose rules bind what acts later. */
  rule_bindings: {
    /** The id of a flow or a broadcast, or `chatbot`. */
    subject: string;
  };
  users: {
    role: "owner" | "admin" | "supervisor" | "agent";
  };
  /** Sign-ins in browsers, for the console. */
  console_sessions: {
    signed_in_by: "password" | "link";
    /** Like `Firefox on Linux`. */
    browser: string;
  };
  idempotency: {
    body: JsonOrSealed;
    /** The contacts and conversations that the body names. */
    subjects: string[];
  };
  /** The events that something reacts to. A trigger maintains this table. */
  listened_events: {
    type: string;
  };
  /** Contacts and conversations that are being erased. */
  erasures: {
    subject: string;
  };
  /** Calls to third parties that have no response yet. */
  outward_calls: {
    actor: StoredActor;
  };
  inboxes: {
    settings: Record<string, unknown>;
    /** Why the inbox can't send; null if it can. */
    health: InboxHealth;
    limits: InboxNumberLimits;
    /** The latest one; null: none was reported. */
    alert: InboxAlert;
  };
  inbox_accounts: {
    /** The access token, the app's secret and the verify token, as JSON. */
    secrets: SealedText;
  };
  teams: {
    settings: Record<string, unknown>;
  };
  team_members: {
    role: "lead" | "member" | "supervisor";
  };
  routing_policies: {
    strategy: "round_robin" | "weighted" | "load_balanced" | "skills_based" | "sticky";
    conditions: Record<string, unknown>;
    target_type: "team" | "user";
    settings: Record<string, unknown>;
  };
}

export interface ActColumns {
  acts: {
    agent_type: "api_key" | "user" | "operator" | "system";
    /** Without secrets and texts; null once a contact that they named was erased. */
    arguments: Record<string, unknown>;
    /** Of the records that the input and the response name. */
    ids: string[];
    /** The budget that held it back; null: none did. */
    budget: Record<string, unknown>;
  };
  read_counts: { agent_type: "api_key" | "user" | "operator" | "system" };
}
