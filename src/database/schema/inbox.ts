/** The tables of contacts, conversations, messages, uploads and imports. */
import type { Generated } from "kysely";
import type { Actor, Json } from "./columns.ts";
import type { SentTemplate } from "./templates.ts";
import type { ChannelPricing, MessageCharge } from "./wallet.ts";

/** What a message contains, by its type; nothing once its contact has been erased. */
type MessageContent = {
  readonly text?: { readonly body: string };
  readonly media?: {
    readonly url: string;
    readonly caption: string | null;
    readonly file_name: string | null;
    /** The storage key of a file that was uploaded here. */
    readonly upload?: string;
  };
  readonly interactive?: Readonly<Record<string, unknown>>;
  readonly template?: SentTemplate;
  /** The choice that an inbound message makes. */
  readonly reply?: { readonly id: string; readonly title: string };
  /** What the channel calls an inbound message of a type that this service does not have. */
  readonly unsupported?: { readonly type: string };
  /** The channel's ids of the edits of the time `edited_at`, which has seconds only. */
  readonly edit_ids?: readonly string[];
};

/** A person's reaction to a message, the latest one. */
type Reaction = {
  readonly contact_id: string;
  /** The number or the channel's id that the person reacted with. */
  readonly from: string;
  /** Null: removed. It is kept, so that an older report of it does not count. */
  readonly emoji: string | null;
  readonly at: string;
  /** The channel's ids of the reactions of this time, which has seconds only. */
  readonly ids: readonly string[];
};

/** A failure as the channel reports it. */
type ChannelFailure = {
  readonly channel_code: number | null;
  readonly title: string;
  readonly detail: string | null;
};

/** A failure with its meaning to the sender. */
/** Why a queued message has not been sent yet. */
export type MessageDelay = {
  /** How many attempts have failed. */
  readonly attempts: number;
  readonly last_error: (ChannelFailure & { readonly code: string }) | null;
  /** Null: it is not sent again, because the channel may have accepted it. */
  readonly next_attempt_at: string | null;
};

type MessageFailure = ChannelFailure & {
  readonly code: string;
  readonly retryable: boolean;
  readonly hint: string;
};

/** The texts of a contact as conditions compare them. */
type NormalizedTexts = {
  readonly name?: string;
  readonly tags?: readonly string[];
  readonly metadata?: unknown;
};

export interface InboxTables {
  contacts: {
    organization_id: string;
    id: string;
    phone_number: string | null;
    name: string | null;
    search_text: Generated<string>;
    tags: Generated<string[]>;
    metadata: Json<Record<string, unknown>>;
    opted_out: Generated<boolean>;
    /** Null unless it is blocked. */
    blocked_at: string | null;
    blocked_reason: string | null;
    bsuid: string | null;
    username: string | null;
    created_at: string;
    updated_at: string;
    erased_at: string | null;
    country: string | null;
    normalized: Json<NormalizedTexts> | null;
    normalized_at: string | null;
    /** When `opted_out` was set last. */
    consent_at: string | null;
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
    /** Only of a pending conversation: the contact's next message opens it, unless a flow or the bot takes that. */
    opens_on_answer: Generated<boolean>;
  };
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
    assigned_by_type: Actor["type"] | null;
    assignment_type: "manual" | "transfer" | "routing" | "unassign";
    team_id: string | null;
    reason: string | null;
    over_capacity: boolean;
    created_at: string;
  };
  messages: {
    organization_id: string;
    id: string;
    conversation_id: string;
    direction: "outbound" | "inbound";
    type: "text" | "image" | "video" | "document" | "audio" | "template" | "interactive" | "unsupported";
    content: Json<MessageContent>;
    from: string | null;
    to: string | null;
    status: "queued" | "sending" | "sent" | "delivered" | "read" | "failed" | "received";
    channel_message_id: string | null;
    claimed_at: string | null;
    /** How often the channel refused it for the time being. */
    refusals: Generated<number>;
    /** Why it is still queued; null if no attempt has failed. Kept when it is sent. */
    delay: Json<MessageDelay> | null;
    /** When the recipient's quota is complete again after it; null: it was not given to a channel with a quota. */
    quota_full_at: string | null;
    sent_at: string | null;
    delivered_at: string | null;
    read_at: string | null;
    failed_at: string | null;
    error: Json<MessageFailure> | null;
    /** Null for inbound messages, and for those of versions that did not record it. */
    sent_by: Json<Actor> | null;
    /** Null for inbound messages, and where there are no prices. */
    charge: Json<MessageCharge> | null;
    /** Null: it is of no broadcast, or was replaced by a retry. */
    broadcast_id: string | null;
    created_at: string;
    /** The transaction that wrote the row; an xid8. */
    transaction_id: Generated<string>;
    /** The id of the message that it quotes. */
    reply_to: string | null;
    reactions: Json<readonly Reaction[]> | null;
    edited_at: string | null;
    deleted_at: string | null;
  };
  message_receipts: {
    organization_id: string;
    message_id: string;
    type: "sent" | "delivered" | "read" | "failed";
    occurred_at: string;
    error: Json<MessageFailure> | null;
  };
  message_originals: {
    organization_id: string;
    message_id: string;
    original: Json<Record<string, unknown>>;
    received_at: string;
  };
  parked_receipts: {
    organization_id: string;
    channel_message_id: string;
    type: "sent" | "delivered" | "read" | "failed";
    occurred_at: string;
    error: Json<ChannelFailure> | null;
    pricing: Json<ChannelPricing> | null;
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
    /** The key or the user that uploaded it; null for files of earlier versions. */
    credential_id: string | null;
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
}
