/**
 * A module: the operations of one resource, its background jobs, its other routes, and its hook handlers.
 *
 * A missing handler, an extra handler or a wrong result is a compile error.
 */
import type { z } from "zod";
import type { Effect, Failure, Operation, VariantOf } from "../../../../tools/contract/index.ts";
import type { Tables } from "../../../database/schema/index.ts";
import type { StreamedInput } from "../../../ports/transport/form.ts";
import type { HttpRoute } from "../../../ports/transport/http-route.ts";
import type { SealedColumn } from "../sealing/index.ts";
import type { Caller } from "./actor.ts";
import type { ActStore } from "./call/acts/index.ts";
import type {
  DelegatedContext,
  ErasureSteps,
  OpenContext,
  OrganizationChange,
  OrganizationScope,
  OutwardContext,
  PrepareContext,
  PublicContext,
  ReadContext,
  StreamedContext,
  World,
  WriteContext,
} from "./context.ts";
import type { HookHandler } from "./hook.ts";
import type { ModuleJob } from "./job.ts";
import type { PlannedEffect, PlannedSteps } from "./planned.ts";
import type { EventRecorder, Transaction } from "./transaction.ts";

interface Contexts {
  read: ReadContext;
  write: WriteContext;
  outward: never;
  delegated: DelegatedContext;
  streamed: StreamedContext;
  public: OpenContext;
}

type ContextOf<Op extends Operation> =
  Op extends Operation<infer Kind extends Effect>
    ? (Kind extends "public" ? OpenContext<z.input<Op["output"]>> : Contexts[Kind]) & {
        readonly variant: VariantOf<Op> | undefined;
      }
    : never;

/**
 * Runs an operation that calls a third party, in steps. `begin` and `record` are transactions; `call` runs
 * between them, once for each idempotency key.
 */
export interface OutwardHandler<Input, Output, Intent = unknown, Result = unknown> {
  /** The schema of the intent, which is stored before the call. */
  readonly intent: z.ZodType<Intent>;
  /** Checks the input and returns what `call` needs. Committing the intent permits the call. */
  begin(input: Input, context: WriteContext): Promise<Intent>;
  /**
   * What a plan of the call shows. The run compares the price. Default: the operation's title, and that it
   * reaches nobody.
   */
  describe?(input: Input, context: WriteContext): Promise<OutwardDescription>;
  /**
   * Calls the third party. A Failure states that the call had no effect; any other error leaves the outcome
   * unknown.
   */
  call(intent: Intent, context: OutwardContext): Promise<Result>;
  /**
   * Looks up a call whose process died. Returns undefined if its outcome can't be known. A Failure with a 4xx
   * status becomes the response.
   */
  find?(intent: Intent, context: OutwardContext): Promise<Result | undefined>;
  /** Records the result and returns the response, which is stored in the same transaction. */
  record(
    result: Result,
    intent: Intent,
    context: OutwardContext & { readonly tx: Transaction },
  ): Promise<Output>;
}

type OutwardDescription = Pick<PlannedEffect, "summary"> & Partial<Pick<PlannedEffect, "price" | "targets">>;

export type AnyOutwardHandler = OutwardHandler<unknown, unknown>;

/** Infers the types of an outward handler. */
export function outward<Input, Output, Intent, Result>(
  handler: OutwardHandler<Input, Output, Intent, Result>,
): OutwardHandler<Input, Output, Intent, Result> {
  return handler;
}

/** The part of a handler that plans the operation. */
export type PlanSteps<Input, Output> = PlannedSteps<
  Input,
  Output,
  OrganizationScope,
  OrganizationChange,
  WriteContext
>;

/** Runs one operation. A streamed operation answers through `context.commit`, not by a return value. */
export type Handler<Op extends Operation> =
  Op extends Operation<"outward">
    ? OutwardHandler<z.output<Op["input"]>, z.input<Op["output"]>>
    : Op extends Operation<"streamed">
      ? (
          input: StreamedInput<z.output<Op["input"]>>,
          context: StreamedContext<z.input<Op["output"]>>,
        ) => Promise<void>
      : (input: z.output<Op["input"]>, context: ContextOf<Op>) => Promise<z.input<Op["output"]>>;

/**
 * A handler in two steps, for slow work such as hashing a password or reading a file: `prepare` runs before
 * the transaction, which holds the embedded engine's only connection. It also runs for a repeated idempotency
 * key.
 */
export interface PreparedHandler<Op extends Operation> {
  prepare(
    input: z.output<Op["input"]>,
    context: PrepareContext,
  ): Promise<(context: ContextOf<Op>) => Promise<z.input<Op["output"]>>>;
  /** As in `FollowedHandler`. */
  afterCommit?(
    response: z.output<Op["output"]>,
    input: z.output<Op["input"]>,
    context: ReadContext,
  ): Promise<z.input<Op["output"]> | undefined>;
  /** Whether the commit decides what the call has done. Otherwise it is recorded after `afterCommit`. */
  isSettled?(response: z.output<Op["output"]>): boolean;
  readonly planned?: PlanSteps<z.output<Op["input"]>, z.input<Op["output"]>>;
}

/**
 * A handler of a write that is planned, or has a step after the commit, such as a wait for an effect of the
 * write. The response of `handle` is stored under the idempotency key. The caller gets the result of
 * `afterCommit`, also for a repeated key; if it is undefined, the stored response as it is.
 */
export interface FollowedHandler<Op extends Operation> {
  handle(input: z.output<Op["input"]>, context: ContextOf<Op>): Promise<z.input<Op["output"]>>;
  /** What a plan of the call shows, without `planned`. Default: the operation's title. */
  describe?(
    input: z.output<Op["input"]>,
    context: WriteContext,
  ): Promise<Pick<PlannedEffect, "summary" | "warnings">>;
  afterCommit?(
    response: z.output<Op["output"]>,
    input: z.output<Op["input"]>,
    context: ReadContext,
  ): Promise<z.input<Op["output"]> | undefined>;
  readonly planned?: PlanSteps<z.output<Op["input"]>, z.input<Op["output"]>>;
}

/** One of several calls that share a transaction. */
export interface BatchedCall<Input> {
  readonly input: Input;
  readonly context: ReadContext;
  /** The W3C trace context of the call. */
  readonly traceparent: string | undefined;
}

/**
 * A handler of a write whose calls can share a transaction, also calls of several organizations. The calls
 * that arrive while a transaction runs share the next one.
 */
export interface BatchedHandler<Op extends Operation> extends FollowedHandler<Op> {
  /**
   * Handles those calls that it can handle without waiting, so that no call delays another.
   * @returns the responses, in the order of the calls; undefined for a call for which nothing was written.
   * Such a call is then handled alone, by `handle`.
   */
  handleTogether(
    batch: Pick<WriteContext, "tx" | "world">,
    calls: readonly BatchedCall<z.output<Op["input"]>>[],
  ): Promise<readonly (z.input<Op["output"]> | undefined)[]>;
}

/** A call that a gate may hold back. */
export interface GatedCall {
  readonly name: string;
  readonly operation: Operation;
  readonly caller: Caller;
  readonly context: PublicContext;
  /** The parsed input, and the input as it was sent. */
  readonly input: unknown;
  readonly sent: unknown;
  /** The idempotency key. */
  readonly key: string | undefined;
  readonly route: string;
  /** Hashes of the operation and its input, as for an idempotency key. */
  readonly hashes: readonly string[];
  /** Runs `effect` in a transaction. */
  write<Result>(effect: (context: WriteContext) => Promise<Result>): Promise<Result>;
  /**
   * The same for what holds the call back. Its response is recorded with `approval_required`, and stored
   * under the idempotency key.
   */
  writeHeld(effect: (context: WriteContext) => Promise<GatedResponse>): Promise<GatedResponse>;
  /** The same for what may hold the call back. Its response is not stored. */
  writeIfHeld(
    effect: (context: WriteContext) => Promise<GatedResponse | undefined>,
  ): Promise<GatedResponse | undefined>;
  /** Runs a write and rolls it back. @throws Failure of the call. */
  rehearse(): Promise<void>;
}

/** Holds calls back. */
export interface CallGate {
  /**
   * Before a call whose credential is bound by rules. Returns the response of a call that is held back;
   * undefined if it may run. @throws Failure
   */
  hold(call: GatedCall): Promise<GatedResponse | undefined>;
  /**
   * After a call that failed. Returns the effect that holds it back instead, whose response is stored under
   * the idempotency key; undefined if the failure is the answer.
   */
  holdFailed(
    call: GatedCall,
    failure: Failure,
  ): Promise<((context: WriteContext) => Promise<GatedResponse>) | undefined>;
  /** The present response of a call that was held back. */
  repeat(call: GatedCall): Promise<GatedResponse | undefined>;
}

interface GatedResponse {
  readonly status: number;
  readonly body: unknown;
  /** Whether an earlier call with the same key got it too. */
  readonly isReplay: boolean;
}

/** A public route of a module that is not an operation. Its handler also takes the world. */
export type ModuleRoute = HttpRoute<[world: World]>;

/** A handler whose types `implement` has checked. */
type AnyHandler =
  | ((input: never, context: never) => Promise<unknown>)
  | {
      prepare(input: never, context: PrepareContext): Promise<(context: never) => Promise<unknown>>;
      afterCommit?(response: never, input: never, context: never): Promise<unknown>;
      isSettled?(response: never): boolean;
      readonly planned?: PlanSteps<never, unknown>;
    }
  | {
      handle(input: never, context: never): Promise<unknown>;
      describe?(input: never, context: WriteContext): Promise<unknown>;
      afterCommit?(response: never, input: never, context: never): Promise<unknown>;
      readonly planned?: PlanSteps<never, unknown>;
      handleTogether?(batch: never, calls: never): Promise<readonly unknown[]>;
    }
  | AnyOutwardHandler;

export interface Module {
  readonly contract: Readonly<Record<string, Operation>>;
  readonly operations: Readonly<Record<string, AnyHandler>>;
  readonly jobs: readonly ModuleJob[];
  readonly routes: readonly ModuleRoute[];
  readonly recordEvents: EventRecorder | undefined;
  readonly actStore: ActStore | undefined;
  readonly tables: readonly (keyof Tables)[];
  readonly sealed: readonly SealedColumn[];
  readonly erase: ErasureSteps;
  readonly hooks: readonly HookHandler[];
  readonly gate: CallGate | undefined;
}

/** Combines a resource's contract with its handlers, jobs, routes and hooks. */
export function implement<Contract extends Readonly<Record<string, Operation>>>(
  contract: Contract,
  parts: {
    readonly operations: {
      readonly [Name in keyof Contract]:
        | Handler<Contract[Name]>
        | PreparedHandler<Contract[Name]>
        | FollowedHandler<Contract[Name]>
        | BatchedHandler<Contract[Name]>;
    };
    /** The tables that only this module writes. */
    readonly tables?: readonly (keyof Tables)[];
    /** The columns of these tables that hold sealed values. */
    readonly sealed?: readonly SealedColumn[];
    readonly jobs?: readonly ModuleJob[];
    readonly routes?: readonly ModuleRoute[];
    readonly erase?: ErasureSteps;
    /** The module's handlers of hooks of modules below. */
    readonly hooks?: readonly HookHandler[];
    /** Records the events of each transaction, in that transaction. */
    readonly recordEvents?: EventRecorder;
    /** Stores the record of acts. Only one module does. */
    readonly actStore?: ActStore;
    /** Holds back calls that rules or budgets do not let run. */
    readonly gate?: CallGate;
  },
): Module {
  const { operations, recordEvents, actStore, gate } = parts;
  const { tables = [], sealed = [], jobs = [], routes = [], erase = {}, hooks = [] } = parts;
  return {
    contract,
    operations,
    recordEvents,
    actStore,
    tables,
    sealed,
    jobs,
    routes,
    erase,
    hooks,
    gate,
  };
}
