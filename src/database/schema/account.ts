/** Columns of organizations, their users, credentials and configuration. */
import type { Actor, JsonOrSealed, Sealed } from "./columns.ts";
import type { ReportedFailure } from "./inbox.ts";

/** Why an inbox can't send. */
export type InboxHealth = ReportedFailure & {
  /** Absent: `stopped`. */
  readonly status?: "unreachable";
  readonly since: string;
  /** Its messages wait until then. */
  readonly retry_at: string;
};

/** What the provider says of an inbox's number. */
export type NumberLimits = {
  /** How many people may be written to outside their windows in 24 hours; null: any number, or not known. */
  readonly messaging_limit: number | null;
  readonly quality: "green" | "yellow" | "red" | null;
  readonly messages_per_second: number | null;
};

export interface AccountColumns {
  organizations: {
    /** In millionths of the currency's unit; null: the setting's. */
    credit_limit: number;
    /** In millionths of the currency's unit; null: none. */
    low_balance_threshold: number;
    /** Null: always open. */
    business_hours: unknown;
    /** Null: not suspended. */
    suspended_at: string;
    /** Those that replace the limits of the settings. */
    limits: Readonly<Record<string, number>>;
  };
  users: {
    role: "owner" | "admin" | "supervisor" | "agent";
  };
  idempotency: {
    body: JsonOrSealed;
    /** The contacts and conversations that the body names. */
    subjects: string[];
  };
  /** The events to which something reacts, as a trigger on it keeps them. */
  listened_events: {
    type: string;
  };
  /** The contacts and conversations that are being erased. */
  erasures: {
    subject: string;
  };
  /** Calls to third parties that have no response yet. */
  outward_calls: {
    actor: Actor;
  };
  inboxes: {
    settings: Record<string, unknown>;
    /** Why it can't send; null if it can. */
    health: InboxHealth;
    limits: NumberLimits;
  };
  inbox_accounts: {
    /** The access token, the app's secret and the verify token, as JSON. */
    secrets: Sealed;
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
