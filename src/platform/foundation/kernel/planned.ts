/**
 * What an operation says to be planned: what it would do, and how it does exactly that. The contexts are type
 * parameters, because they have the planned calls themselves.
 */
import type { Failure, Operation, ScopeRule } from "../../../../tools/contract/index.ts";
import type { Queries } from "../../../database/database.ts";
import type { Caller } from "./actor.ts";
import type { Transaction } from "./transaction.ts";

/** A person whom the call is about. */
export interface PlannedTarget {
  /** Null if the contact does not exist yet. */
  readonly contact_id: string | null;
  readonly to: string | null;
  readonly name: string | null;
  /** What the person would read. */
  readonly text: string;
  /** Why the person gets no message; null if the person gets one. */
  readonly reason: string | null;
  /** JSON that `run` needs of this target. */
  readonly frozen: unknown;
}

/** What a call would do now. */
export interface PlannedEffect {
  readonly summary: string;
  /** Empty with `remaining`. */
  readonly targets: readonly PlannedTarget[];
  /** Set if there are too many targets for one transaction. Then `planTargets` returns them in batches. */
  readonly remaining?: {
    readonly total: number;
    /** How many of them get a message, or fewer. */
    readonly recipients: number;
  };
  /**
   * The addresses of files elsewhere that the call would send. If there are any, a job downloads the files,
   * and then plans the call again.
   */
  readonly addresses?: readonly string[];
  /** In millionths of the currency's unit; null if there is no price. */
  readonly price: { readonly amount: number; readonly currency: string } | null;
  readonly warnings: readonly string[];
  /** The ids and addresses of contacts and conversations, other than the targets, by which it is erased. */
  readonly subjects: readonly string[];
  /** JSON that `run` needs. */
  readonly frozen: unknown;
}

/** The files that a plan keeps: their storage keys, by the addresses from which they were downloaded. */
type KeptFiles = Readonly<Record<string, string>>;

/** What a plan has when its call is planned again, because its files have been downloaded. */
export interface EarlierPlan {
  readonly files: KeptFiles;
  /** Undefined for the first plan. */
  readonly frozen?: unknown;
}

/** The part of the targets that a job plans in one transaction. */
export interface TargetRequest extends EarlierPlan {
  /** The `next` of the batch before; "" for the first batch. */
  readonly after: string;
  readonly limit: number;
}

export interface TargetBatch {
  readonly targets: readonly PlannedTarget[];
  /** Null if no target follows. */
  readonly next: string | null;
  /** What the messages of the batch cost, in millionths of the currency's unit; null without a price. */
  readonly amount: number | null;
}

/** What `run` gets of a plan. A target whose contact was erased is missing. */
export type FrozenCall = Pick<PlannedEffect, "frozen" | "price"> & {
  readonly files: KeptFiles;
  /** In their order, in batches. */
  readonly targets: AsyncIterable<readonly Pick<PlannedTarget, "contact_id" | "to" | "frozen" | "reason">[]>;
};

/**
 * The part of a handler that plans the operation. Planning calls no port and locks no wallet.
 *
 * `run` does what was planned and nothing else. It compares what it read with what it writes in one
 * transaction, and throws `plan_changed` if it differs from the plan, and `plan_lapsed` if the conversation
 * went on.
 */
export interface PlannedSteps<Input, Output, Preparing, Changing, Writing> {
  /** The scopes of the data that the plan shows, which the operation itself may not require. */
  readonly reads: ScopeRule | null;
  /** Slow work before each transaction of the plan, and of the run. */
  prepare?(context: Preparing): Promise<void>;
  plan(input: Input, context: Changing, earlier: EarlierPlan): Promise<PlannedEffect>;
  /** Required if `plan` returns `remaining`. @throws Failure if the call can't be planned any more. */
  planTargets?(input: Input, context: Changing, request: TargetRequest): Promise<TargetBatch>;
  run(input: Input, context: Writing, call: FrozenCall): Promise<Output>;
}

/** The call that a plan is of. */
export interface PlannedRequest {
  /** An operation's name, with its input. */
  readonly operation?: string | undefined;
  /** A tool's name, with its arguments as input. */
  readonly tool?: string | undefined;
  readonly input: Readonly<Record<string, unknown>>;
}

export interface PlannedCall<Preparing, Writing> {
  readonly name: string;
  readonly operation: Operation;
  /** The operation's input as it was sent. */
  readonly input: Readonly<Record<string, unknown>>;
  /** Does the slow work, which needs no transaction. */
  prepare(context: Preparing): Promise<PreparedCall<Writing>>;
}

export interface PreparedCall<Writing> {
  plan(context: Writing): Promise<PlannedEffect>;
  /**
   * Returns what the operation answers; of a call to a third party its intent, which the plan stores.
   * @throws Failure `plan_changed`, `plan_lapsed`.
   */
  run(context: Writing, call: FrozenCall): Promise<unknown>;
}

/** The steps by which a job ends a plan. */
export interface PlanPreparation<Changing> {
  plan(context: Changing, earlier: EarlierPlan): Promise<PlannedEffect>;
  planTargets(context: Changing, request: TargetRequest): Promise<TargetBatch>;
}

/** Who may end a call to a third party, and where its response is stored. */
export interface OutwardClaim {
  /** Ends the claim. Returns false if another call has taken it over. */
  close(tx: Transaction): Promise<boolean>;
  /** The third party did not accept the call, so it may be made again. */
  reopen(tx: Transaction, failure: Failure): Promise<void>;
  /** The response that the call has stored which took the claim over. */
  findResponse(tx: Transaction): Promise<OutwardResponse | undefined>;
  /** Stores the response of a claim that is closed. */
  storeResponse(tx: Transaction, response: OutwardResponse): Promise<void>;
  renew(db: Queries, until: string): Promise<void>;
}

interface OutwardResponse {
  readonly status: number;
  readonly body: unknown;
  /** Whether an earlier call has stored it. */
  readonly isReplay: boolean;
}

/** A call to a third party whose intent a plan has stored. */
export interface PlannedIntent {
  readonly operation: string;
  readonly intent: unknown;
  /** Whether the process that was to make the call died: then the call is looked up, and not made. */
  readonly isAbandoned: boolean;
}

export interface PlannedCalls<Preparing, Scoping, Changing, Writing, Calling> {
  /** The names of the operations whose plans the caller may read. */
  readableBy(caller: Caller): readonly string[];
  /** @throws Failure `insufficient_scope`, `not_allowed_by_rules` if the caller may not read its plans. */
  requireReadable(caller: Caller, operation: string): void;
  isDestructive(operation: string): boolean;
  /**
   * @throws Failure `tool_not_found`, `tool_hidden`, `insufficient_scope`, `not_allowed_by_rules`,
   *   `invalid_request`, `operation_not_planned`.
   */
  find(
    request: PlannedRequest,
    caller: Caller,
    hiddenBy: (tool: string) => string | undefined,
  ): PlannedCall<Preparing, Writing>;
  /** Continues a plan that a caller has begun. Does the slow work. */
  resume(
    call: { readonly operation: string; readonly input: unknown },
    context: Scoping,
  ): Promise<PlanPreparation<Changing>>;
  /**
   * Makes the call of a run that has committed its intent. Returns the response, which `claim` has stored.
   * @throws Failure if the third party did not accept the call: the claim is open again.
   */
  complete(call: PlannedIntent, claim: OutwardClaim, context: Calling): Promise<OutwardResponse>;
}
