/** The contexts of handlers: the caller, the time of the call, and what the operation's effect may use. */

import type { Operation } from "../../../../tools/contract/index.ts";
import type { Database, Queries } from "../../../database/database.ts";
import { newId } from "../../../database/id.ts";
import type { Jobs } from "../../../jobs/job.ts";
import type { OperatorLimits } from "../../../ports/limits.ts";
import type { Ports } from "../../../ports/ports.ts";
import type { Actor, Caller, KeyOwner } from "./actor.ts";
import type { ActLog, CallRecord } from "./call/acts/index.ts";
import type { HookHandlers } from "./hook.ts";
import type { PlannedCalls } from "./planned.ts";
import type { Transaction } from "./transaction.ts";

/** Everything outside the business logic; built by `createPlatform` and passed to every handler and job. */
export interface World extends Ports, OperatorLimits {
  readonly database: Database<Transaction>;
  readonly jobs: Jobs;
  /** The public base URLs of this service and its CDN, for links to files. */
  readonly addresses: {
    service(): string;
    /** Whether `service` is known to be reachable from outside, because its address was configured. */
    readonly isPublic: boolean;
    readonly cdn: string | undefined;
  };
  /** Signs access tokens and links, and seals stored secrets. */
  readonly secret: string;
  /** The secret before a rotation. Values that were signed or sealed with it stay valid. */
  readonly previousSecret: string | undefined;
  /**
   * The secret in the database, which is in use unless another secret is configured. Then it only opens
   * sealed values.
   */
  readonly generatedSecret: string;
  /** The record of acts. */
  readonly acts: ActLog;
  /** The functions that modules run in transactions of other modules. */
  readonly hooks: HookHandlers;
  /** The operations of the modules, for plans of their calls. */
  readonly plannedCalls: PlannedCalls<
    PrepareContext,
    OrganizationScope,
    OrganizationChange,
    WriteContext,
    OutwardContext
  >;
  /** How each module erases a record. */
  readonly erasers: readonly ErasureSteps[];
  /** The names of the jobs that also run for an erased record. */
  readonly jobsKeptByErasure: readonly string[];
  /** Every offered tool by name, with the operation that it calls. */
  readonly tools: ReadonlyMap<string, Operation>;
  /** The operator's setting that hides a tool from assistants; undefined if the tool is not hidden. */
  hiddenBy(tool: string): string | undefined;
  /** Starts the MCP server on this machine; null if people may use the service from other machines. */
  readonly assistantCommand: { readonly command: string; readonly args: readonly string[] } | null;
  /** Aborted when the app begins to stop; waiting calls then return at once. */
  readonly stopping: AbortSignal;
  /** The W3C trace context of the present call or job; undefined without tracing. */
  traceparent(): string | undefined;
}

/** The part of the context that every handler has. */
export interface PublicContext {
  readonly world: World;
  /** The time of this call, used for everything that it writes. */
  readonly now: Date;
  /** The actor of this call: without a signed-in caller, the service itself. */
  readonly actor: Actor;
  /** The variant that the operation declares for the requested path. */
  readonly variant: string | undefined;
  /** The IP address of the client; undefined if it is not known. */
  readonly address: string | undefined;
  /** The name of the MCP tool that makes this call; undefined if no assistant makes it through MCP. */
  readonly tool: string | undefined;
  /** Aborted when the caller disconnects. */
  readonly signal: AbortSignal;
}

/** The context of an operation without a caller, which opens its own transactions. */
export interface OpenContext<Output = unknown> extends PublicContext {
  /**
   * Runs `effect` in a transaction, once per idempotency key: a repeated call returns the stored response.
   * `owner` replaces the caller as the owner of the key. An undefined result is not stored.
   */
  once<Result extends Output | undefined>(
    owner: KeyOwner,
    effect: (tx: Transaction) => Promise<Result>,
  ): Promise<Result>;
  /** The record of this call. A handler that signs somebody in names the person. */
  readonly record: Pick<CallRecord, "identify" | "writeWith">;
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

/** The context of a handler before its transaction. */
export interface PrepareContext {
  readonly world: World;
  /** Null for an operation without a caller. */
  readonly caller: Caller | null;
}

/** The context of a write, which also reads through its transaction. */
export interface WriteContext extends ReadContext {
  readonly db: Transaction;
  readonly tx: Transaction;
}

/**
 * The context of code that changes rows: the transaction, the world, the time of the change, and its actor.
 */
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

/** The context of work for one organization before a transaction. */
export type OrganizationScope = Pick<OrganizationChange, "world" | "organization">;

/**
 * The functions by which a module erases the personal data of a record from its own tables. `Erased`
 * identifies the record.
 */
export interface ErasureSteps<Erased = never> {
  /**
   * Returns the ids of the module's rows that other modules refer to. The rows stay locked until the commit.
   */
  find?(tx: Transaction, record: Erased): Promise<readonly string[]>;
  /** Runs in the transaction that erases the record. For few rows that an index finds. */
  now?(change: Change, record: Erased): Promise<void>;
  /**
   * Runs in a job after the commit. For any number of rows, a batch per transaction, one step after the
   * other. `after` is "" in the first call of a step. Each call returns the `after` of the next call;
   * undefined at the end.
   */
  readonly later?: readonly ((
    tx: Transaction,
    record: Erased,
    after: string,
  ) => Promise<string | undefined>)[];
}

/** The context of a streamed call, which stores its file before it commits. */
export interface StreamedContext<Output = unknown> extends ReadContext {
  /**
   * Runs `effect` and stores its response in one transaction, once per idempotency key: a repeated call
   * returns the stored response, and `effect` does not run. `fileIdentity` identifies the file, for example
   * by its hash; it may be any JSON value.
   */
  commit(fileIdentity: unknown, effect: (context: WriteContext) => Promise<Output>): Promise<void>;
  /**
   * For a call with JSON input: commits the intent to call a third party with the idempotency key; `commit`
   * ends it.
   * @throws Failure `request_in_progress`, `outcome_unknown`.
   */
  beginOutward(): Promise<void>;
}

/**
 * The context of a delegated call, which runs other operations, each with its own scope, input and effect.
 */
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
