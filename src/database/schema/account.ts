/** The tables of organizations, their users, credentials and configuration. */
import type { ColumnType, Generated } from "kysely";
import type { Actor, Json, JsonOrSealed, Sealed } from "./columns.ts";

/** Why an inbox can't send. */
export type InboxHealth = {
  /** Absent: `stopped`. */
  readonly status?: "unreachable";
  readonly channel_code: number | null;
  readonly title: string;
  readonly detail: string | null;
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

export interface AccountTables {
  settings: { name: string; value: string };
  organizations: {
    id: string;
    name: string;
    created_at: string;
    time_zone: Generated<string>;
    default_country: string | null;
    currency: Generated<string>;
    /** In millionths of the currency's unit; null: the setting's. */
    credit_limit: number | null;
    /** In millionths of the currency's unit; null: none. */
    low_balance_threshold: number | null;
    /** Null: always open. */
    business_hours: Json<unknown> | null;
    default_language: string | null;
    /** Null: not suspended. */
    suspended_at: string | null;
    suspension_reason: string | null;
    /** Those that replace the limits of the settings. */
    limits: ColumnType<Readonly<Record<string, number>>, string | undefined, string>;
  };
  users: {
    organization_id: string;
    id: string;
    email: string;
    name: string;
    role: "owner" | "admin" | "supervisor" | "agent";
    password_hash: string;
    is_active: Generated<boolean>;
    session_version: Generated<number>;
    created_at: string;
    updated_at: string;
  };
  api_keys: {
    organization_id: string;
    id: string;
    name: string;
    prefix: string;
    hash: string;
    scopes: string[];
    created_by: string | null;
    created_at: string;
    expires_at: string | null;
    last_used_at: string | null;
  };
  refresh_tokens: {
    organization_id: string;
    id: string;
    user_id: string;
    family_id: string;
    session_version: Generated<number>;
    hash: string;
    family_expires_at: string;
    expires_at: string;
    used_at: string | null;
    revoked_at: string | null;
    created_at: string;
  };
  idempotency: {
    organization_id: string;
    credential_id: string;
    route: string;
    key: string;
    request_hash: string;
    status: number | null;
    body: JsonOrSealed | null;
    /** The contacts and conversations that the body names. */
    subjects: Generated<string[]>;
    created_at: string;
  };
  /** The events to which something reacts, as a trigger on it keeps them. */
  listened_events: { organization_id: string; type: string };
  /** The contacts and conversations that are being erased. */
  erasures: { organization_id: string; subject: string };
  /** Calls to third parties that have no response yet. */
  outward_calls: {
    organization_id: string;
    credential_id: string;
    route: string;
    key: string;
    request_hash: string;
    operation: string;
    actor: Json<Actor>;
    intent: Json<unknown>;
    owner: string;
    running_until: string;
    created_at: string;
  };
  inboxes: {
    organization_id: string;
    id: string;
    name: string;
    channel: string;
    platform: string;
    phone_number: string;
    settings: Json<Record<string, unknown>>;
    /** Why it can't send; null if it can. */
    health: Json<InboxHealth> | null;
    limits: Json<NumberLimits> | null;
    created_at: string;
    updated_at: string;
  };
  inbox_accounts: {
    organization_id: string;
    inbox_id: string;
    phone_number_id: string;
    waba_id: string;
    app_id: string;
    /** The access token, the app's secret and the verify token, as JSON. */
    secrets: Sealed;
    updated_at: string;
  };
  teams: {
    organization_id: string;
    id: string;
    name: string;
    description: string | null;
    settings: Json<Record<string, unknown>>;
    is_active: boolean;
    tier: number;
    created_at: string;
    updated_at: string;
  };
  team_members: {
    organization_id: string;
    team_id: string;
    user_id: string;
    id: string;
    role: "lead" | "member" | "supervisor";
    is_available: boolean;
    unavailable_since: string | null;
    max_concurrent_chats: number;
    current_chat_count: Generated<number>;
    skills: string[];
    turn: Generated<number>;
    created_at: string;
    updated_at: string;
    unavailable_from: string | null;
    unavailable_until: string | null;
  };
  routing_policies: {
    organization_id: string;
    id: string;
    name: string;
    description: string;
    strategy: "round_robin" | "weighted" | "load_balanced" | "skills_based" | "sticky";
    priority: number;
    conditions: Json<Record<string, unknown>>;
    target_type: "team" | "user";
    target_id: string | null;
    settings: Json<Record<string, unknown>>;
    is_active: boolean;
    created_at: string;
    updated_at: string;
  };
  routing_credits: { organization_id: string; policy_id: string; user_id: string; credit: number };
  quick_replies: {
    organization_id: string;
    id: string;
    short_code: string;
    content: string;
    created_by: string | null;
    created_at: string;
    updated_at: string;
  };
}
