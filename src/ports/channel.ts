/** What the house needs of a messaging channel. Called outside any transaction. */

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
  | { readonly type: "interactive"; readonly interactive: Readonly<Record<string, unknown>> };

export interface OutboundMessage {
  readonly organization_id: string;
  /** The inbox's own number, E.164. */
  readonly from: string;
  /** The recipient: a number in E.164 form or, of a person who hides it, the channel's business-scoped id. */
  readonly to: string;
  /** What `to` is: WhatsApp loses a message without a word whose id stands where a number is due. */
  readonly to_kind: "phone" | "bsuid";
  /** Ours; the channel repeats it in receipts and, where it can, finds the message by it. */
  readonly token: string;
  readonly content: MessageContent;
}

export interface ChannelFailure {
  /** The channel's own code, for example 131047. */
  readonly channel_code: number | null;
  readonly title: string;
  readonly detail: string | null;
}

export type SendResult =
  | { readonly outcome: "accepted"; readonly channel_message_id: string }
  /** The channel will never take it. */
  | { readonly outcome: "refused"; readonly failure: ChannelFailure }
  /** Certainly not taken this time: try again, not before `retryAfterMs`. */
  | { readonly outcome: "busy"; readonly retryAfterMs: number; readonly failure: ChannelFailure };

export type FindResult =
  | { readonly outcome: "accepted"; readonly channel_message_id: string }
  | { readonly outcome: "absent" }
  /** This channel can't tell: wait for a receipt. */
  | { readonly outcome: "unknown" };

/**
 * A messaging channel. `send` may throw: then nobody knows whether the message was taken, and
 * it is looked up with `find` before anything else is done.
 */
export interface Channel {
  send(message: OutboundMessage, signal: AbortSignal): Promise<SendResult>;
  find(token: string, organization_id: string): Promise<FindResult>;
}

export type ReceiptType = "sent" | "delivered" | "read" | "failed";

/** What a channel tells of a message that it took. */
export interface Receipt {
  readonly organization_id: string;
  readonly channel_message_id: string;
  readonly token: string | null;
  readonly type: ReceiptType;
  readonly occurred_at: string;
  readonly failure: ChannelFailure | null;
}

/** What a channel calls a person beside the number. */
export interface Identities {
  /** The number in the channel's own spelling, digits alone. */
  readonly wa_id?: string | null | undefined;
  /** The id that the channel gives this person towards this business, for example US.13491208655302741918. */
  readonly bsuid?: string | null | undefined;
  /** Chosen by the person, who may change it, and another take it. */
  readonly username?: string | null | undefined;
}

/** What a contact sent. */
export interface InboundMessage {
  readonly organization_id: string;
  readonly channel_message_id: string;
  /** The sender's number, E.164; null of a person who hides it, and whom an identity names. */
  readonly from: string | null;
  readonly identities?: Identities | undefined;
  /** The inbox's number; null: the organization's first one. */
  readonly to: string | null;
  readonly name: string | null;
  readonly occurred_at: string;
  readonly content:
    | MessageContent
    | { readonly type: "interactive"; readonly reply: { readonly id: string; readonly title: string } };
}

/** Where a channel delivers what it hears. Resolves once it is durable; both are safe to repeat. */
export interface ChannelCallbacks {
  onReceipts(receipts: readonly Receipt[]): Promise<void>;
  onMessage(message: InboundMessage): Promise<{ message_id: string; conversation_id: string }>;
}
