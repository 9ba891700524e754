/** Columns of contacts, conversations, messages, uploads and imports. */
import type { FailureReason } from "../../ports/channel/channel.ts";
import type {
  Interactive,
  ReceivedContent,
  ReceivedDetails,
  SentCard,
} from "../../ports/channel/message-content.ts";
import type { SealedText, StoredActor, StoredMessageSender } from "./columns.ts";
import type { ChannelPricing, MessageCharge } from "./money.ts";
import type { SentTemplate } from "./templates.ts";

type PartOf<Name extends string> =
  Extract<ReceivedContent, { readonly [Part in Name]: unknown }> extends infer Content
    ? Content extends { readonly [Part in Name]: infer Value }
      ? Value
      : never
    : never;

/** The content of a message, by its type. Empty after the contact has been erased. */
export type StoredContent = Partial<ReceivedDetails> & {
  readonly text?: { readonly body: string; readonly preview_url?: boolean | undefined };
  readonly media?: {
    readonly url: string;
    readonly caption: string | null;
    readonly file_name: string | null;
    /** The storage key of a file that was uploaded here. */
    readonly upload?: string;
    /** Of a recording that is a voice message. */
    readonly voice?: true;
  };
  readonly interactive?: Interactive;
  /** The storage key of the header's file, if it was uploaded here. */
  readonly header_upload?: string;
  readonly template?: SentTemplate;
  /** The code of an authentication template, until the message is sent or has failed. */
  readonly sealed_code?: SealedText;
  /** The choice that an inbound message makes. */
  readonly reply?: PartOf<"reply">;
  readonly location?: PartOf<"location">;
  readonly contacts?: PartOf<"contacts">;
  /** Contact cards with all that was sent of them. */
  readonly cards?: readonly SentCard[];
  readonly order?: PartOf<"order">;
  readonly form?: PartOf<"form">;
  readonly call_permission?: PartOf<"call_permission">;
  readonly call?: PartOf<"call">;
  /** A readable text of what has none. */
  readonly summary?: string;
  /** The channel's name for the type of an inbound message that this service does not support. */
  readonly unsupported?: PartOf<"unsupported">;
  /** The channel's ids of the edits at `edited_at`, which is exact only to the second. */
  readonly edit_ids?: readonly string[];
};

/** A person's latest reaction to a message, or the inbox's. */
export type StoredReaction = {
  /** Null: the inbox has reacted. */
  readonly contact_id: string | null;
  /** The number, or the channel's id, from which the reaction came. */
  readonly from: string;
  /**
   * Null if the reaction was removed. The row is kept, so that an older report of the reaction is ignored.
   */
  readonly emoji: string | null;
  readonly at: string;
  /** The channel's ids of the reactions at this time, which is exact only to the second. */
  readonly ids: readonly string[];
};

/** A failure as the channel reports it. */
export type ReportedFailure = {
  /** Earlier versions did not store it. */
  readonly reason?: FailureReason;
  readonly channel_code: number | null;
  readonly title: string;
  readonly detail: string | null;
};

/** Why a queued message has not been sent yet. */
export type MessageDelay = {
  /** Earlier versions did not store it, nor `since`. */
  readonly reason?: "turn" | "limit" | "stop" | "confirmation" | "file" | "outage";
  /** When the message began to wait for this reason. */
  readonly since?: string;
  /** How many attempts have failed. */
  readonly attempts: number;
  readonly last_error: Pick<MessageFailure, "code" | "channel_code" | "title" | "detail"> | null;
  /** Null: it is not sent again, because the channel may have accepted it. */
  readonly next_attempt_at: string | null;
};

/** A failure with its meaning to the sender. */
export type MessageFailure = Omit<ReportedFailure, "reason"> & {
  readonly code: string;
  readonly retryable: boolean;
  readonly hint: string;
};

/** The texts of a contact in the form that conditions compare. */
export type NormalizedTexts = {
  readonly name?: string;
  readonly tags?: readonly string[];
  readonly metadata?: unknown;
};

export type StoredReferral = NonNullable<ReceivedDetails["referral"]> & { readonly at: string };

export type StoredMessageType = "template" | ReceivedContent["type"];

export interface InboxColumns {
  contacts: {
    metadata: Record<string, unknown>;
    /** Null unless the contact is blocked. */
    blocked_at: string;
    normalized: NormalizedTexts;
    /** By the place of the attribute in `contact_date_attributes`. */
    dates: (string | null)[];
    /** When `opted_out` was set last. */
    consent_at: string;
  };
  conversations: {
    status: "open" | "pending" | "closed" | "snoozed" | "spam";
    /**
     * Only true for a pending conversation: the contact's next message opens it, unless a flow or the bot
     * takes that message.
     */
    opens_on_answer: boolean;
    /** The first and the latest ad or post by which the contact came to write. */
    referrals: { readonly first: StoredReferral; readonly latest: StoredReferral };
  };
  routing_decisions: {
    trigger: "inbound" | "assign" | "capacity" | "escalation" | "requeue" | "reopen";
    outcome: "assigned" | "queued" | "unmatched";
    strategy: "round_robin" | "weighted" | "load_balanced" | "skills_based" | "sticky";
  };
  assignments: {
    assigned_by_type: StoredActor["type"];
    assignment_type: "manual" | "transfer" | "routing" | "unassign";
  };
  conversation_notes: {
    author: StoredActor;
  };
  messages: {
    direction: "outbound" | "inbound";
    type: StoredMessageType;
    content: StoredContent;
    status: "queued" | "sending" | "sent" | "delivered" | "read" | "failed" | "received";
    /** How often the channel refused the message temporarily. */
    refusals: number;
    /** Why the message is still queued; null before its first turn. Kept after the message is sent. */
    delay: MessageDelay;
    /**
     * When the recipient's quota is complete again after this message; null if it was not sent on a channel
     * with a quota.
     */
    quota_full_at: string;
    error: MessageFailure;
    /** Null for inbound messages, and for messages of versions that did not record the actor. */
    sent_by: StoredMessageSender;
    /** Null for inbound messages, and if there are no prices. */
    charge: MessageCharge;
    /** Null if the message belongs to no broadcast, or a retry has replaced it. */
    broadcast_id: string;
    /** The transaction that wrote the row; an xid8. */
    transaction_id: string;
    /** The id of the quoted message. */
    reply_to: string;
    reactions: readonly StoredReaction[];
  };
  message_receipts: {
    type: "sent" | "delivered" | "read" | "failed";
    error: MessageFailure;
  };
  parked_receipts: {
    type: "sent" | "delivered" | "read" | "failed";
    error: ReportedFailure;
    pricing: ChannelPricing;
  };
  uploads: {
    status: "arriving" | "kept";
    /** The key or the user that uploaded the file; null for files of earlier versions. */
    credential_id: string;
  };
  imports: {
    status: "queued" | "running" | "done" | "failed";
    errors: readonly { line: number; reason: string }[];
  };
}
