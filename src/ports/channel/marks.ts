/** What an inbox does with a message besides answering it: read marks and reactions. */
import type { ChannelAccount } from "./account.ts";
import type { ChannelAddress } from "./address.ts";
import type { ChannelFailure } from "./failure.ts";

/** Tells a person that a message, and all before it, was read. Safe to repeat. */
export interface ReadMark {
  readonly account: ChannelAccount;
  readonly channel_message_id: string;
  /** Whether to show that an answer is being written. */
  readonly isTyping: boolean;
}

/** What an inbox answers to a message with: a later one to the same message replaces it. */
export interface SentReaction {
  /** The simulated channel has none. */
  readonly account: ChannelAccount | undefined;
  readonly to: ChannelAddress;
  /** The channel's id of the message. */
  readonly channel_message_id: string;
  /** Null removes the reaction. */
  readonly emoji: string | null;
}

export type ReactionResult =
  | { readonly outcome: "accepted" }
  | { readonly outcome: "refused"; readonly failure: ChannelFailure }
  /** The channel does not respond or is busy: the reaction was certainly not accepted. */
  | { readonly outcome: "unavailable" };
