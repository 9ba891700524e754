/** The contexts of handlers: the caller, the time of the call, and what the operation's effect may use. */

import type { RawBuilder } from "kysely";
import type { z } from "zod";
import type { BotInConversation } from "../../../tools/chatbot.ts";
import type { Operation } from "../../../tools/contract/index.ts";
import type { Event, EventName } from "../../../tools/events.ts";
import type { ActiveRun } from "../../../tools/messages/index.ts";
import type { Database, Queries, Transaction } from "../../database/database.ts";
import { newId } from "../../database/id.ts";
import type { Jobs, JobType, NewJob } from "../../jobs/job.ts";
import type { Channel } from "../../ports/channel.ts";
import type { Clock, Sandbox } from "../../ports/clock.ts";
import type { Countries } from "../../ports/countries.ts";
import type { DocumentReader } from "../../ports/document-reader.ts";
import type { Embedder } from "../../ports/embedder.ts";
import type { LanguageModel } from "../../ports/language-model.ts";
import type { Log } from "../../ports/log.ts";
import type { PatternMatcher } from "../../ports/patterns.ts";
import type { PaymentProcessor } from "../../ports/payments.ts";
import type { Storage } from "../../ports/storage.ts";
import type { Metrics } from "../../ports/telemetry.ts";
import type { TemplateAuthority } from "../../ports/template-authority.ts";
import type { Web } from "../../ports/web.ts";
import type { Actor, Caller, KeyOwner } from "./actor.ts";
import type { BroadcastProgress } from "./broadcast-progress.ts";
import type { Quotas, RetentionDays, WalletSettings } from "./limits.ts";

/** Everything outside the business logic; built by `createPlatform` and passed to every handler and job. */
export interface World {
  readonly database: Database;
  readonly jobs: Jobs;
  readonly now: Clock;
  /** Undefined: the clock shows the real time. */
  readonly sandbox: Sandbox | undefined;
  readonly log: Log;
  /** Counters and histograms; their labels have few values. */
  readonly metrics: Metrics;
  /** By the name that an inbox's row holds. */
  readonly channels: Readonly<Record<string, Channel>>;
  /** Reviews the templates of a channel; by the channel's name. */
  readonly templateAuthorities: Readonly<Record<string, TemplateAuthority>>;
  /** Takes the money of top-ups. */
  readonly payments: PaymentProcessor;
  /** The only way to reach an address that a customer provided, except that of a webhook. */
  readonly web: Web;
  /** The only way to reach the receiver of a webhook, which may be on this machine during development. */
  readonly receivers: Web;
  readonly storage: Storage;
  readonly countries: Countries;
  readonly embedder: Embedder;
  /** Undefined: there is none, and answers are quoted from the knowledge base. */
  readonly languageModel: LanguageModel | undefined;
  /** Tokens of it, of input and output, that an organization may use in a calendar month; undefined: no limit. */
  readonly monthlyTokens: number | undefined;
  readonly documents: DocumentReader;
  /** Called outside any transaction. */
  readonly patterns: PatternMatcher;
  /** The public base URLs of this service and its CDN, for links to files. */
  readonly addresses: {
    service(): string;
    /** Whether the first one is known to be reachable from outside: it was set. */
    readonly isPublic: boolean;
    readonly cdn: string | undefined;
  };
  readonly quotas: Quotas;
  readonly retention: RetentionDays;
  readonly wallet: WalletSettings;
  /** Signs access tokens and links, and seals stored secrets. */
  readonly secret: string;
  /** The secret before a rotation: what was signed or sealed under it stays valid. */
  readonly previousSecret: string | undefined;
  /** The secret in the database, which is in use unless another one is set; it only opens sealed values. */
  readonly generatedSecret: string;
  /** The listener jobs of each event. */
  readonly listeners: ReadonlyMap<EventName, readonly JobType<Event>[]>;
  /** Called with the events of each transaction, before it commits. */
  readonly recorders: readonly EventRecorder[];
  /** What the modules do in each other's transactions. */
  readonly hooks: Hooks;
  /** How each module erases a contact. */
  readonly erasers: readonly Erase[];
  /** The names of the jobs that also run for an erased contact. */
  readonly jobsKeptByErasure: readonly string[];
  /** Every tool that is offered, by name, with the operation that it calls. */
  readonly tools: ReadonlyMap<string, Operation>;
  /** The operator's setting that hides a tool from assistants; undefined if none does. */
  hiddenBy(tool: string): string | undefined;
  /** Aborted when the app begins to stop; waiting calls then return at once. */
  readonly stopping: AbortSignal;
}

export interface Emission {
  readonly event: Event;
  /** Events with the same key are delivered one at a time, in the order in which they were emitted. */
  readonly orderKey: string;
}

/** Records the events of a transaction before it commits, and returns the jobs to enqueue in it. */
export type EventRecorder = (tx: Transaction, emissions: readonly Emission[]) => Promise<readonly NewJob[]>;

/** The part of the context that every handler has. */
export interface PublicContext {
  readonly world: World;
  /** The time of this call, the same for everything that it writes. */
  readonly now: Date;
  /** Who makes this call; the service itself without a signed-in caller. */
  readonly actor: Actor;
  /** The variant that the declaration gives the requested path. */
  readonly variant: string | undefined;
  /** The IP address of the client; undefined if it is not known. */
  readonly address: string | undefined;
  /** Aborted when the caller disconnects. */
  readonly signal: AbortSignal;
}

/** An operation without a caller opens its own transactions. */
export interface OpenContext<Output = unknown> extends PublicContext {
  /**
   * Runs `effect` in a transaction, once per idempotency key: a repeated call returns the stored response. `owner`
   * takes the caller's place as the owner of the key. Undefined is not stored.
   */
  once<Result extends Output | undefined>(
    owner: KeyOwner,
    effect: (tx: Transaction) => Promise<Result>,
  ): Promise<Result>;
}

export interface ReadContext extends PublicContext {
  readonly caller: Caller;
  readonly organization: string;
  readonly db: Queries;
}

/** The context of a call to a third party: no transaction is open. */
export interface OutwardContext {
  readonly world: World;
  readonly now: Date;
  readonly organization: string;
  readonly actor: Actor;
  /** Aborted when the caller disconnects, or when the app stops. */
  readonly signal: AbortSignal;
}

/** What a handler has before its transaction. */
export interface PrepareContext {
  readonly world: World;
  /** Null for an operation without a caller. */
  readonly caller: Caller | null;
}

/** A write also reads through its transaction. */
export interface WriteContext extends ReadContext {
  readonly db: Transaction;
  readonly tx: Transaction;
}

/** What code that changes rows needs: the transaction, the world, the time of the change, and who makes it. */
export interface Change {
  readonly tx: Transaction;
  readonly world: World;
  readonly now: Date;
  readonly actor: Actor;
}

/** A change within one organization. */
export interface OrganizationChange extends Change {
  readonly organization: string;
}

/** A contact that is being erased. Its row is locked, and so are its conversations after the first hook. */
export interface ErasedContact {
  readonly organization_id: string;
  readonly contact_id: string;
  readonly conversation_ids: readonly string[];
  /** The values of its identities, by which a channel reports what the person does. */
  readonly identities: readonly string[];
}

/** How a module erases the personal data of a contact from its own tables. */
export interface Erase {
  /** In the transaction that erases the contact: rows that an index finds and that are few. */
  now?(change: Change, contact: ErasedContact): Promise<void>;
  /**
   * By a job after the commit: rows of any number, a batch in each transaction. `after` is "" in the first call.
   * Returns the `after` of the next call; undefined at the end.
   */
  later?(tx: Transaction, contact: ErasedContact, after: string): Promise<string | undefined>;
}

/**
 * What a module does within the transaction of a module below it, which does not know it. An event runs after the
 * commit; a hook belongs to the change itself: both are committed, or neither.
 */
export interface Hooks {
  /** Agents may have become free: waiting conversations may be assigned. */
  capacityFreed(change: Change, organization: string): Promise<void>;
  /** A team has a new member, whose row is locked: waiting conversations that the member can take are assigned now. */
  memberAdded(change: Change, organization: string): Promise<void>;
  /**
   * An approved template is about to be submitted again or deleted, and can't be sent from then on.
   * @throws Failure `template_in_use` if something waits to be sent with it.
   */
  templateWithdrawn(
    change: Change,
    template: { readonly organization: string; readonly inbox_id: string; readonly template_id: string },
  ): Promise<void>;
  /** The delivery of messages of broadcasts has progressed. Several changes of one message are in their order. */
  broadcastProgressed(tx: Transaction, world: World, changes: readonly BroadcastProgress[]): Promise<void>;
  /** A cohort is about to be deleted. @throws Failure `cohort_in_use` if something needs it yet. */
  cohortWithdrawn(
    change: Change,
    cohort: { readonly organization: string; readonly cohort_id: string },
  ): Promise<void>;
  /** An organization's wallet was credited. The caller locked the wallet before it wrote the entry. */
  walletCredited(
    tx: Transaction,
    world: World,
    credit: { readonly organization: string; readonly now: Date },
  ): Promise<void>;
  /** A person answers in a conversation: the statements that this adds to the one that stores the message. */
  personReplied(
    change: Change,
    conversation: { readonly organization_id: string; readonly id: string },
  ): readonly RawBuilder<unknown>[];
  /** What acts in a conversation by itself; null if nothing does. */
  activeRun(
    db: Queries,
    conversation: { readonly organization: string; readonly conversation_id: string },
  ): Promise<z.input<typeof ActiveRun> | null>;
  /** The conversations, of these, that a bot answers: routing looks for no agent. */
  heldByBot(
    db: Queries,
    conversations: { readonly organization: string; readonly conversation_ids: readonly string[] },
  ): Promise<ReadonlySet<string>>;
  /** Whether a flow that waits for a reply, or the bot, takes a message that the contact has just written. */
  takesMessage(
    db: Queries,
    conversation: { readonly organization: string; readonly conversation_id: string },
  ): Promise<boolean>;
  /** The bot's part in a conversation; null if it never had one. */
  botIn(
    db: Queries,
    conversation: { readonly organization: string; readonly conversation_id: string },
  ): Promise<z.input<typeof BotInConversation> | null>;
  /** Conversations, by id, have got an agent or a team, or were closed. */
  conversationsTaken(
    change: Change,
    taken: {
      readonly organization: string;
      readonly assigned: readonly string[];
      readonly closed: readonly string[];
    },
  ): Promise<void>;
  /** A user has another role, or was activated or deactivated. */
  authorityChanged(
    change: Change,
    user: { readonly organization: string; readonly user_id: string },
  ): Promise<void>;
  /** A team is being deleted. Called before its members are locked, and again afterwards. */
  teamDeleted(
    change: Change,
    team: { readonly organization: string; readonly team_id: string },
  ): Promise<void>;
}

/** A streamed call stores its file first and then commits it. */
export interface StreamedContext<Output = unknown> extends ReadContext {
  /**
   * Runs `effect` and stores its response in one transaction, once per idempotency key: a repeated call
   * returns the stored response, and `effect` does not run. `fileIdentity` distinguishes the file from others,
   * for example its hash; it may be any JSON value.
   */
  commit(fileIdentity: unknown, effect: (context: WriteContext) => Promise<Output>): Promise<void>;
  /**
   * Commits the intent to call a third party under the idempotency key; `commit` ends it. For a call with JSON input.
   * @throws Failure `request_in_progress`, `outcome_unknown`.
   */
  beginOutward(): Promise<void>;
}

/** A delegated call runs other operations, each under its own scope, input and effect. */
export interface DelegatedContext extends PublicContext {
  readonly caller: Caller;
  /** The tools that the caller may use; `call` returns the response's body. */
  readonly tools: {
    list(): { name: string; description: string; input_schema: Readonly<Record<string, unknown>> }[];
    call(name: string, toolArguments: Readonly<Record<string, unknown>>): Promise<Record<string, unknown>>;
  };
}

/** A new id whose timestamp is the time of the call. */
export function freshId(context: { readonly now: Date }, prefix: string): string {
  return newId(prefix, context.now);
}
