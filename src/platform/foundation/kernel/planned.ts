/**
 * What an operation says to be planned: what it would do, and how it does exactly that. The contexts are type
 * parameters, because they have the planned calls themselves.
 */
import type { Operation, ScopeRule } from "../../../../tools/contract/index.ts";
import type { Caller } from "./actor.ts";

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
  readonly targets: readonly PlannedTarget[];
  /** In millionths of the currency's unit; null if there is no price. */
  readonly price: { readonly amount: number; readonly currency: string } | null;
  readonly warnings: readonly string[];
  /** The ids and addresses of contacts and conversations, other than the targets, by which it is erased. */
  readonly subjects: readonly string[];
  /** JSON that `run` needs. */
  readonly frozen: unknown;
}

/** What `run` gets of a plan. A target whose contact was erased is missing. */
export type FrozenCall = Pick<PlannedEffect, "frozen" | "price"> & {
  readonly targets: readonly Pick<PlannedTarget, "contact_id" | "to" | "frozen" | "reason">[];
};

/**
 * The part of a handler that plans the operation. Planning calls no port and locks no wallet.
 *
 * `run` does what was planned and nothing else. It compares what it read with what it writes in one
 * transaction, and throws `plan_changed` if it differs from the plan, and `plan_lapsed` if the conversation
 * went on.
 */
export interface PlannedSteps<Input, Output, Preparing, Writing> {
  /** The scopes of the data that the plan shows, which the operation itself may not require. */
  readonly reads: ScopeRule | null;
  /** Slow work before the transaction of the plan, and of the run. */
  prepare?(context: Preparing): Promise<void>;
  plan(input: Input, context: Writing): Promise<PlannedEffect>;
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
  /** Returns what the operation answers. @throws Failure `plan_changed`, `plan_lapsed`. */
  run(context: Writing, call: FrozenCall): Promise<unknown>;
}

export interface PlannedCalls<Preparing, Writing> {
  /** The names of the operations whose plans the caller may read. */
  readableBy(caller: Caller): readonly string[];
  /** @throws Failure `insufficient_scope` if the caller may not read plans of this operation. */
  requireReadable(caller: Caller, operation: string): void;
  isDestructive(operation: string): boolean;
  /**
   * @throws Failure `tool_not_found`, `tool_hidden`, `insufficient_scope`, `invalid_request`,
   *   `operation_not_planned`.
   */
  find(
    request: PlannedRequest,
    caller: Caller,
    hiddenBy: (tool: string) => string | undefined,
  ): PlannedCall<Preparing, Writing>;
}
