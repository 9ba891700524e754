/** The port to a messaging channel. Called outside any transaction. */
import type { TemplateButton } from "../../tools/templates/index.ts";

export type MessageContent =
  | { readonly type: "text"; readonly text: { readonly body: string } }
  | {
      readonly type: "image" | "video" | "document" | "audio";
      readonly media: {
        readonly url: string;
        readonly caption: string | null;
        readonly file_name: string | null;
      };
    }
  | { readonly type: "interactive"; readonly interactive: Readonly<Record<string, unknown>> }
  | { readonly type: "template"; readonly template: TemplateMessage };

/** A template with the values of its variables, and the texts that result. */
export interface TemplateMessage {
  readonly name: string;
  readonly language: string;
  readonly header:
    | { readonly type: "text"; readonly text: string }
    | {
        readonly type: "image" | "video" | "document";
        readonly media: { readonly url: string; readonly file_name: string | null };
      }
    | null;
  readonly body: string;
  readonly footer: string | null;
  /** A quick reply's `payload` is returned when the contact taps it; by default its text is. */
  readonly buttons: readonly (TemplateButton & { readonly payload?: string | undefined })[];
  /** What the channel fills in, in the order of the placeholders. */
  readonly values: {
    readonly header: readonly string[];
    readonly body: readonly string[];
    /** The variable end of a url button's address. */
    readonly buttons: readonly { readonly index: number; readonly value: string }[];
  };
}

export interface OutboundMessage {
  readonly organization_id: string;
  /** The inbox's phone number, E.164. */
  readonly from: string;
  /** The recipient: a phone number in E.164 form, or the business-scoped user id of a person who hides it. */
  readonly to: string;
  /** Selects the field for `to`: WhatsApp silently drops a message with an id in the field for numbers. */
  readonly to_kind: "phone" | "bsuid";
  /** Set by this service; the channel repeats it in receipts and, if it can, finds the message by it. */
  readonly token: string;
  /** One of many of a broadcast, which may wait for others. */
  readonly is_bulk: boolean;
  readonly content: MessageContent;
}

export interface ChannelFailure {
  /** The channel's error code, for example 131047. */
  readonly channel_code: number | null;
  readonly title: string;
  readonly detail: string | null;
}

export type SendResult =
  | { readonly outcome: "accepted"; readonly channel_message_id: string }
  /** The channel rejects the message permanently. */
  | { readonly outcome: "refused"; readonly failure: ChannelFailure }
  /** The message was certainly not accepted; retry after `retryAfterMs` at the earliest. */
  | { readonly outcome: "busy"; readonly retryAfterMs: number; readonly failure: ChannelFailure };

export type FindResult =
  | { readonly outcome: "accepted"; readonly channel_message_id: string }
  | { readonly outcome: "absent" }
  /** The channel has no lookup: wait for a receipt. */
  | { readonly outcome: "unknown" };

/**
 * A messaging channel. If `send` throws, it is unknown whether the message was accepted, and `find` must be
 * called before anything else is done.
 */
export interface Channel {
  send(message: OutboundMessage, signal: AbortSignal): Promise<SendResult>;
  find(token: string, organization_id: string): Promise<FindResult>;
}

export type ReceiptType = "sent" | "delivered" | "read" | "failed";

/** What the channel charges a message as. */
export interface Pricing {
  /** For example marketing; null: as the message was sent. */
  readonly category: string | null;
  readonly is_free: boolean;
}

/** A status update of a message that the channel accepted. */
export interface Receipt {
  readonly organization_id: string;
  readonly channel_message_id: string;
  readonly token: string | null;
  readonly type: ReceiptType;
  readonly occurred_at: string;
  readonly failure: ChannelFailure | null;
  /** Not every receipt has it. */
  readonly pricing?: Pricing | null | undefined;
}

/** A person's identities on a channel, apart from the phone number. */
export interface Identities {
  /** The phone number as the channel writes it, digits only. */
  readonly wa_id?: string | null | undefined;
  /** The business-scoped user id: the channel's id of this person for this business, for example US.13491208655302741918. */
  readonly bsuid?: string | null | undefined;
  /** Chosen by the person, who can change it; another person may then take it. */
  readonly username?: string | null | undefined;
}

/** A message from a contact. */
export interface InboundMessage {
  readonly organization_id: string;
  readonly channel_message_id: string;
  /** The sender's number, E.164; null if the person hides it, with an identity instead. */
  readonly from: string | null;
  readonly identities?: Identities | undefined;
  /** The inbox's number; null for the organization's first inbox. */
  readonly to: string | null;
  readonly name: string | null;
  readonly occurred_at: string;
  readonly content:
    | Exclude<MessageContent, { readonly type: "template" }>
    | { readonly type: "interactive"; readonly reply: { readonly id: string; readonly title: string } };
}

/** The functions that a channel calls. They resolve when the data is durable, and are safe to repeat. */
export interface ChannelCallbacks {
  onReceipts(receipts: readonly Receipt[]): Promise<void>;
  onMessage(message: InboundMessage): Promise<{ message_id: string; conversation_id: string }>;
}
