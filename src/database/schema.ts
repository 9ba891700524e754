/** The tables as the query layer sees them. Times are ISO 8601 strings in, and out in UTC. */
import type { ColumnType, Generated } from "kysely";

/** A JSON column: written as JSON text, read as its value. */
export type Json<Value> = ColumnType<Value, string, string>;

export interface Tables {
  settings: { name: string; value: string };
  organizations: { id: string; name: string; created_at: string };
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
    body: Json<unknown> | null;
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
    created_at: string;
    updated_at: string;
  };
  contacts: {
    organization_id: string;
    id: string;
    phone_number: string | null;
    name: string | null;
    search_text: Generated<string>;
    tags: Generated<string[]>;
    metadata: Json<Record<string, unknown>>;
    opted_out: Generated<boolean>;
    bsuid: string | null;
    username: string | null;
    created_at: string;
    updated_at: string;
    erased_at: string | null;
  };
  contact_identities: {
    organization_id: string;
    kind: "phone" | "wa_id" | "bsuid" | "username";
    value: string;
    contact_id: string;
    created_at: string;
  };
  conversations: {
    organization_id: string;
    id: string;
    inbox_id: string;
    contact_id: string;
    status: "open" | "pending" | "closed" | "snoozed" | "spam";
    snoozed_until: string | null;
    last_message_at: string | null;
    last_user_message_at: string | null;
    last_agent_message_at: string | null;
    is_favorite: Generated<boolean>;
    assigned_to: string | null;
    team_id: string | null;
    tags: Generated<string[]>;
    erased_at: string | null;
    is_unread: Generated<boolean>;
    waiting_since: string | null;
    queued_at: string | null;
    policy_id: string | null;
    created_at: string;
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
  routing_decisions: {
    organization_id: string;
    id: string;
    conversation_id: string;
    trigger: "inbound" | "assign" | "capacity" | "escalation" | "requeue" | "reopen";
    outcome: "assigned" | "queued" | "unmatched";
    explanation: string;
    policy_id: string | null;
    policy_name: string | null;
    strategy: "round_robin" | "weighted" | "load_balanced" | "skills_based" | "sticky" | null;
    team_id: string | null;
    assigned_to: string | null;
    candidates: Json<unknown>;
    created_at: string;
  };
  assignments: {
    organization_id: string;
    id: string;
    conversation_id: string;
    contact_id: string;
    assigned_to: string | null;
    assigned_by: string | null;
    assignment_type: "manual" | "transfer" | "routing" | "unassign";
    team_id: string | null;
    reason: string | null;
    over_capacity: boolean;
    created_at: string;
  };
  quick_replies: {
    organization_id: string;
    id: string;
    short_code: string;
    content: string;
    created_by: string | null;
    created_at: string;
    updated_at: string;
  };
  messages: {
    organization_id: string;
    id: string;
    conversation_id: string;
    direction: "outbound" | "inbound";
    type: "text" | "image" | "video" | "document" | "audio" | "template" | "interactive";
    content: Json<Record<string, unknown>>;
    from: string | null;
    to: string | null;
    status: "queued" | "sending" | "sent" | "delivered" | "read" | "failed" | "received";
    channel_message_id: string | null;
    claimed_at: string | null;
    sent_at: string | null;
    delivered_at: string | null;
    read_at: string | null;
    failed_at: string | null;
    error: Json<Record<string, unknown>> | null;
    created_at: string;
    /** The one that wrote the row; an xid8. */
    transaction_id: Generated<string>;
  };
  message_receipts: {
    organization_id: string;
    message_id: string;
    type: "sent" | "delivered" | "read" | "failed";
    occurred_at: string;
    error: Json<Record<string, unknown>> | null;
  };
  parked_receipts: {
    organization_id: string;
    channel_message_id: string;
    type: "sent" | "delivered" | "read" | "failed";
    occurred_at: string;
    error: Json<Record<string, unknown>> | null;
    parked_at: string;
  };
  uploads: {
    organization_id: string;
    id: string;
    key: string;
    status: Generated<"arriving" | "kept">;
    file_name: string;
    content_type: string;
    file_size: number | null;
    sha256: string | null;
    is_public: boolean;
    created_at: string;
  };
  imports: {
    organization_id: string;
    id: string;
    status: "queued" | "running" | "done" | "failed";
    upload_id: string | null;
    url: string | null;
    position: Generated<number>;
    created: Generated<number>;
    updated: Generated<number>;
    rejected: Generated<number>;
    errors: Json<readonly { line: number; reason: string }[]>;
    failure: string | null;
    created_at: string;
    updated_at: string;
    finished_at: string | null;
  };
  jobs: {
    id: string;
    name: string;
    lane: string;
    key: string | null;
    organization_id: string | null;
    payload: Json<unknown>;
    run_at: string;
    attempts: Generated<number>;
    claims: Generated<number>;
    schedule: string | null;
    traceparent: string | null;
    created_at: string;
  };
  dead_jobs: {
    id: string;
    name: string;
    lane: string;
    key: string | null;
    organization_id: string | null;
    payload: Json<unknown>;
    attempts: number;
    error: string;
    created_at: string;
    died_at: string;
  };
  simulator_messages: {
    organization_id: string;
    id: string;
    token: string;
    phone_number: string;
    direction: "outbound" | "inbound";
    content: Json<Record<string, unknown>>;
    status: string;
    created_at: string;
  };
  simulator_faults: { organization_id: string; faults: Json<Record<string, unknown>> };
}
