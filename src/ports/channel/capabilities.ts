/** What a channel can do. The platform asks this record, and never which channel it is. */
import type { InteractiveOffer } from "../../../tools/messages/index.ts";
import type { AddressKind } from "./address.ts";
import type { MediaType } from "./message-content.ts";

export interface ChannelCapabilities {
  /** Where persons see an inbox of the channel, for example whatsapp. */
  readonly platform: string;
  /** Whether its messages reach no real person: simulated money pays for them. */
  readonly isSimulated: boolean;
  /**
   * How persons can be written to. Of several addresses of a person, the one of the first kind is used.
   * An inbox's own address is of one of these kinds too.
   */
  readonly addresses: readonly AddressKind[];
  /** Whether it accepts free text only for 24 hours after the person's latest message. */
  readonly hasWindow: boolean;
  /**
   * Whether it reports the delivery of messages. Without receipts, `sent` is the last status of a message,
   * and the message is charged when it is accepted.
   */
  readonly hasReceipts: boolean;
  /** Whether it shows persons that their messages were read, and that an answer is being written. */
  readonly readMarks?: "read" | "typing";
  /** What it reports that persons do with earlier messages. */
  readonly changes: readonly ChangeType[];
  /** The files that it accepts. It can't send a type that is left out. */
  readonly media: MediaLimits;
  /** Whether it fetches a file of this service by a link; otherwise it gets the file. */
  readonly fetchesFiles: boolean;
  /** Null: it has no buttons and lists. */
  readonly interactive: InteractiveLimits | null;
  /** What else it can send, as messages of their own or in interactive ones. */
  readonly extras: readonly ExtraContent[];
  readonly rate: ChannelRate;
  /** Whether its messages cost what the organization's price table says; false: nothing. */
  readonly isPriced: boolean;
}

export type ChangeType = "reaction" | "edit" | "edit_caption" | "delete";

export type ExtraContent = "location" | "cards" | Exclude<InteractiveOffer, "buttons" | "list">;

/** Voice messages are audio with limits of their own. */
export type MediaLimits = { readonly [Type in MediaType | "voice"]?: MediaLimit };

export interface MediaLimit {
  readonly maxBytes: number;
  readonly contentTypes: readonly string[];
}

/** How many choices a message can have; 0: it has none of this kind. */
export interface InteractiveLimits {
  readonly buttons: number;
  readonly rows: number;
}

export interface ChannelRate {
  /** Of an inbox whose number has no limit of its own; null: any number. */
  readonly messagesPerSecond: number | null;
  /** Null: any number. */
  readonly perPerson: PersonRate | null;
}

/** So many messages at once to one person; each uses up the interval that follows. */
export interface PersonRate {
  readonly burst: number;
  readonly intervalMs: number;
}
