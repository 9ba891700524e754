/** The port to a messaging channel. Called outside any transaction. */
import type {
  AccountAlert,
  AccountIds,
  AccountReading,
  ChannelAccount,
  ConnectResult,
  NumberLimits,
  RefusedAccount,
  SetUpRequest,
  SetUpResult,
} from "./account.ts";
import type { ChannelAddress, Identities, IdentityMove } from "./address.ts";
import type { ChannelCapabilities } from "./capabilities.ts";
import type { ChannelFailure } from "./failure.ts";
import type { ReactionResult, ReadMark, SentReaction } from "./marks.ts";
import type { MessageContent } from "./message-content.ts";
import type { AccountMessage, InboundMessage, PastMessage, SavedName } from "./received.ts";
import type { TemplateAuthority } from "./template-authority.ts";

export type { ChannelFailure, FailureReason } from "./failure.ts";
export type { AccountMessage, InboundMessage } from "./received.ts";

export interface OutboundMessage {
  readonly organization_id: string;
  /** The inbox's own address. */
  readonly from: string;
  /** The account that it is sent from; the simulated channel has none. */
  readonly account?: ChannelAccount | undefined;
  readonly to: ChannelAddress;
  /** Set by this service; the channel repeats it in receipts and, if it can, finds the message by it. */
  readonly token: string;
  /** How many results of earlier attempts had `isRefusal`. */
  readonly refusals: number;
  /** One of many of a broadcast, which may wait for others. */
  readonly is_bulk: boolean;
  /** The channel's id of the message that it quotes. */
  readonly reply_to?: string | undefined;
  readonly content: MessageContent;
}

export type SendResult =
  | { readonly outcome: "accepted"; readonly channel_message_id: string }
  /** The channel rejects the message permanently. */
  | {
      readonly outcome: "refused";
      readonly failure: ChannelFailure;
      /** The channel has another status of the template than this service. */
      readonly isTemplateOutdated?: boolean;
    }
  /** The inbox can't send any message until its account is put right; this one was certainly not accepted. */
  | { readonly outcome: "stopped"; readonly failure: ChannelFailure }
  /** The message was certainly not accepted; retry after `retryAfterMs` at the earliest. */
  | {
      readonly outcome: "busy";
      readonly retryAfterMs: number;
      readonly waitsFor: "limit" | "file" | "outage";
      readonly failure: ChannelFailure;
      /**
       * The channel refused this message, not all of the inbox; the number of its refusals is passed
       * to the next attempt.
       */
      readonly isRefusal?: boolean;
    }
  /** The request was sent, but no valid answer came: as if `send` had thrown. */
  | { readonly outcome: "unknown"; readonly failure: ChannelFailure };

export type FindResult =
  | { readonly outcome: "accepted"; readonly channel_message_id: string }
  | { readonly outcome: "absent" }
  /** The channel has no lookup: wait for a receipt. */
  | { readonly outcome: "unknown" };

export interface SendOptions {
  readonly signal: AbortSignal;
  /**
   * To be called right before the request that the inbox's rate limits: what comes before, such as an
   * upload, may take long.
   */
  readonly startNow: () => Promise<void>;
  /**
   * Throws if another process may send the message by now, for example because this one was frozen.
   * To be called after `startNow`, with no wait before the request. The error is passed on: the
   * message was not sent.
   */
  readonly requireClaim: () => void;
}

/**
 * A messaging channel. If `send` throws, it is unknown whether the message was accepted, and `find` must be
 * called before anything else is done.
 */
export interface Channel {
  readonly capabilities: ChannelCapabilities;
  send(message: OutboundMessage, options: SendOptions): Promise<SendResult>;
  find(token: string, organization_id: string): Promise<FindResult>;
  /** Asks whether an inbox can use the channel. It changes nothing. */
  check(inbox: CheckedInbox, options: { readonly signal: AbortSignal }): Promise<CheckResult>;
  /** Only of a channel with read marks. @throws Error if another attempt may succeed. */
  readonly markRead?: (mark: ReadMark, options: { readonly signal: AbortSignal }) => Promise<void>;
  /**
   * Only of a channel to which reactions can be sent. Safe to repeat. If it throws, it is unknown whether the
   * person sees the reaction.
   */
  readonly react?: (
    reaction: SentReaction,
    options: { readonly signal: AbortSignal },
  ) => Promise<ReactionResult>;
  /** Only of a channel with accounts. */
  readonly provider?: ChannelProvider;
  /** Reviews the templates of a channel that has templates. */
  readonly templates?: TemplateAuthority;
}

export interface CheckedInbox {
  /** The inbox's own address. */
  readonly address: string;
  /** Only of a channel with accounts. */
  readonly account: ChannelAccount | undefined;
}

export type CheckResult =
  /** The account is accepted and has the address. `limits` is null if the channel does not say. */
  | { readonly outcome: "working"; readonly limits: NumberLimits | null }
  | RefusedAccount
  /** The channel accepts the credentials, and rejects the request for another reason. */
  | { readonly outcome: "stopped"; readonly failure: ChannelFailure }
  /** The channel does not respond or is busy: nothing is known of the account. */
  | { readonly outcome: "unavailable"; readonly failure: ChannelFailure };

/** A request to the address where the provider reports messages and receipts. */
export interface ChannelRequest {
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** The provider of a channel's accounts. */
export interface ChannelProvider {
  /** Reads credentials, as a caller sent them or as they are stored. Other members are ignored. */
  readAccount(credentials: unknown): AccountReading;
  /**
   * Checks that an account works and has this address, and subscribes to what it receives. Safe to repeat.
   */
  connect(
    request: { readonly account: ChannelAccount; readonly address: string },
    signal: AbortSignal,
  ): Promise<ConnectResult>;
  /** Sets up what an account needs to send and receive. Safe to repeat. Not of every provider. */
  setUp?(request: SetUpRequest, signal: AbortSignal): Promise<SetUpResult>;
  /** Undefined if the provider does not allow it. */
  readLimits(account: ChannelAccount, signal: AbortSignal): Promise<NumberLimits | undefined>;
  /** Of a provider that reports what its accounts receive. */
  readonly webhook?: ChannelWebhook;
  /** Of a provider that does not report it, and is asked for it. */
  readonly polling?: ChannelPolling;
  /**
   * Passes a received file to `read` while it arrives; undefined if the provider does not have it any more.
   */
  fetchFile<Value>(
    account: ChannelAccount,
    file: WantedFile,
    read: (content: FileContent) => Promise<Value>,
  ): Promise<Value | undefined>;
}

/** The address of an inbox to which the provider reports. */
export interface ChannelWebhook {
  /** The answer to the provider's check of the address; undefined if its token is not the account's. */
  answerHandshake(
    account: ChannelAccount,
    query: Readonly<Record<string, string | readonly string[]>>,
  ): string | undefined;
  /** What a request reports. Its signature is checked first, by the account's secret. */
  readRequest(
    account: ChannelAccount,
    request: ChannelRequest,
  ): ChannelUpdates | "forged" | "too_many" | "unreadable";
}

export interface ChannelPolling {
  /** From one request to the next, unless there are more updates already. */
  readonly intervalMs: number;
  /**
   * What the account has received after `cursor`, oldest first; null: from the first request on. A page may
   * be requested again, until its own cursor has been stored.
   */
  readUpdates(account: ChannelAccount, cursor: string | null, signal: AbortSignal): Promise<UpdatePage>;
}

export interface UpdatePage {
  readonly updates: Partial<ChannelUpdates>;
  /** Where the next page begins. */
  readonly cursor: string;
  readonly hasMore: boolean;
}

/** A file of a received message, by the provider's id. */
export interface WantedFile {
  readonly id: string;
  readonly signal: AbortSignal;
}

export interface FileContent {
  readonly type: string;
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * What a provider reports at once. The account of each part is one of the same app, not always the account
 * whose address is called.
 */
export interface ChannelUpdates {
  readonly messages: readonly AccountMessage[];
  /** Messages of the time before, in any order. */
  readonly history: readonly PastMessage[];
  /** The names under which owners of accounts have saved persons on their phones. */
  readonly names: readonly SavedName[];
  readonly receipts: readonly (Omit<Receipt, "organization_id"> & { readonly account_id: string })[];
  /** Reactions, edits and deletions. */
  readonly changes: readonly (Omit<MessageChange, "organization_id" | "channel"> & {
    readonly account_id: string;
  })[];
  readonly consents: readonly (ConsentChange & { readonly account_id: string })[];
  /** Persons who have another number or id. */
  readonly moves: readonly (IdentityMove & { readonly account_id: string })[];
  readonly templates: readonly { readonly business_id: string; readonly name: string }[];
  /** Why an account, or each one of a business, can't send, or can again (null). */
  readonly health: readonly {
    readonly account: Partial<Pick<AccountIds, "account_id" | "business_id">>;
    readonly failure: ChannelFailure | null;
  }[];
  /** The limits of a business's accounts may have changed. */
  readonly limits: readonly { readonly business_id: string }[];
  /** What a person must read in the provider's dashboard. */
  readonly alerts: readonly AccountAlert[];
}

/** A person allowed or stopped marketing by the channel's own means. */
export interface ConsentChange {
  readonly occurred_at: string;
  readonly from: Identities;
  readonly opted_out: boolean;
}

/** What a person does with an earlier message of the conversation. */
export interface MessageChange {
  readonly organization_id: string;
  /** The name of the channel; messages of other channels are not changed. */
  readonly channel: string;
  /** The channel's id of that message. */
  readonly channel_message_id: string;
  /** The channel's id of the change; a repeated report has the same one. */
  readonly change_id: string;
  readonly from: Identities;
  readonly occurred_at: string;
  readonly change: /** Null: the person removes the reaction. */
    | { readonly type: "reaction"; readonly emoji: string | null }
    /** Of the person's own message: a new text. */
    | { readonly type: "edit"; readonly text: string }
    /** Of the person's own message with a file. */
    | { readonly type: "edit_caption"; readonly caption: string | null }
    /** Of the person's own message. */
    | { readonly type: "delete" };
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

/** The functions that a channel calls. They resolve when the data is durable, and are safe to repeat. */
export interface ChannelCallbacks {
  onReceipts(receipts: readonly Receipt[]): Promise<void>;
  onMessage(message: InboundMessage): Promise<{ message_id: string; conversation_id: string }>;
  /** Undefined if the message is not known, or if the sender of an edit or a deletion is not. */
  onChange(change: MessageChange): Promise<{ message_id: string; conversation_id: string } | undefined>;
}
