/** Messages as a channel's accounts report them: received, sent from the owner's phone, or of the past. */
import type { Identities } from "./address.ts";
import type { ReceivedContent, ReceivedDetails } from "./message-content.ts";

/** A message from a contact. */
export interface InboundMessage {
  readonly organization_id: string;
  /** The name of the channel, which is the inbox's too. */
  readonly channel: string;
  readonly channel_message_id: string;
  readonly from: Identities;
  /** The inbox's own address; null for the organization's first inbox of the channel. */
  readonly to: string | null;
  readonly name: string | null;
  readonly occurred_at: string;
  /** The channel's id of the message that it quotes. */
  readonly reply_to?: string | null | undefined;
  readonly content: ReceivedContent;
  readonly details?: ReceivedDetails | undefined;
}

/** A message that an account received, or that its owner sent from a phone. */
export interface AccountMessage extends Omit<InboundMessage, "organization_id" | "channel" | "to"> {
  readonly account_id: string;
  /** The owner has sent it with the channel's app, and `from` is the person who got it. */
  readonly is_echo?: true | undefined;
  /** The file of a message with media, whose address is empty until it has been fetched. */
  readonly file: { readonly id: string; readonly content_type: string } | null;
}

/** A message of the time before the account was connected. It may be reported again with its file. */
export interface PastMessage extends AccountMessage {
  /** The latest status of a message by the owner; received for one of the person. */
  readonly status: "received" | "sent" | "delivered" | "read" | "failed";
}

export interface SavedName {
  readonly account_id: string;
  readonly from: Identities;
  readonly name: string;
}
