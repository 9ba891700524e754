/**
 * A call of an operation with an authorized caller, and the functions that run its handler and make its
 * response.
 */

import type { Operation } from "../../../../../tools/contract/index.ts";
import type { Form } from "../../../../ports/transport/form.ts";
import type { Actor, Caller } from "../actor.ts";
import type { PrepareContext, PublicContext, WriteContext } from "../context.ts";
import type { AnyOutwardHandler, BatchedCall, Module, PlanSteps } from "../module.ts";
import type { PlannedEffect } from "../planned.ts";
import type { CallRecord } from "./acts/index.ts";
import type { CallResponse } from "./idempotency/index.ts";

/** `Who` is null if the requested path takes no credential of an organization. */
export interface OperationCall<Who extends Caller | null = Caller> {
  /** The operation's name. */
  readonly name: string;
  readonly operation: Operation;
  readonly handler: BoundHandler;
  readonly caller: Who;
  readonly context: PublicContext;
  /** The parsed input; undefined if the input arrives in `form`. */
  readonly input: unknown;
  /** A form that is still being received; only for a streamed operation. */
  readonly form: Form | undefined;
  /** The idempotency key that the caller sent. */
  readonly key: string | undefined;
  /** The route for which the idempotency key is unique. */
  readonly route: string;
  readonly record: CallRecord;
}

/** The second step of a handler, after its slow work. */
type PreparedEffect = (context: PublicContext) => Promise<unknown>;

export type DescribedCall = Pick<PlannedEffect, "summary" | "warnings">;

/** A handler that is planned, or has a step after the commit. */
interface FollowedHandler {
  handle(input: unknown, context: PublicContext): Promise<unknown>;
  describe?(input: unknown, context: WriteContext): Promise<DescribedCall>;
  afterCommit?(response: unknown, input: unknown, context: PublicContext): Promise<unknown>;
  /** Handles several calls in one transaction. */
  handleTogether?(
    batch: Pick<WriteContext, "tx" | "world">,
    calls: readonly BatchedCall<unknown>[],
  ): Promise<readonly unknown[]>;
}

/**
 * The forms of a handler: a function, a function in two steps, a function with a step after the commit, and
 * the steps of an outward operation.
 */
export type BoundHandler =
  | ((input: unknown, context: PublicContext) => Promise<unknown>)
  | (PreparedHandler & MaybePlanned)
  | (FollowedHandler & MaybePlanned)
  | AnyOutwardHandler;

interface MaybePlanned {
  readonly planned?: PlanSteps<unknown, unknown>;
}

/** A handler in two steps. */
interface PreparedHandler {
  prepare(input: unknown, context: PrepareContext): Promise<PreparedEffect>;
  afterCommit?(response: unknown, input: unknown, context: PublicContext): Promise<unknown>;
  isSettled?(response: unknown): boolean;
}

export interface BoundOperation {
  readonly operation: Operation;
  readonly handler: BoundHandler;
}

/** The operations of a module with their handlers, by name. */
export function bindHandlers({ contract, operations }: Module): [string, BoundOperation][] {
  return Object.entries(contract).map(([name, operation]) => {
    // `implement` has checked that the handler fits the operation; `Module` keeps no types for each pair.
    return [name, { operation, handler: operations[name] as BoundHandler }];
  });
}

/** The steps of an outward operation; undefined for every other handler. */
export function outwardStepsOf(handler: BoundHandler): AnyOutwardHandler | undefined {
  return "begin" in handler ? handler : undefined;
}

/** What a plan of the call shows; undefined if the handler says nothing of it. */
export async function describeCall(
  handler: BoundHandler,
  input: unknown,
  context: WriteContext,
): Promise<DescribedCall | undefined> {
  return "describe" in handler && "handle" in handler ? handler.describe?.(input, context) : undefined;
}

/** How a handler handles several calls in one transaction; undefined if it can't. */
export function batchHandlerOf(handler: BoundHandler): FollowedHandler["handleTogether"] {
  return "handleTogether" in handler ? handler.handleTogether : undefined;
}

/** Does a handler's slow work, which needs no transaction, and returns the second step of the handler. */
export async function prepareHandler(
  {
    name,
    handler,
    caller,
    context: { world },
  }: Pick<OperationCall<Caller | null>, "name" | "handler" | "caller"> & {
    readonly context: Pick<PublicContext, "world">;
  },
  input: unknown,
): Promise<PreparedEffect> {
  if ("begin" in handler) {
    throw new Error(`The handler of ${name} has steps, but its effect is not outward`);
  }
  if ("handle" in handler) {
    return (context) => handler.handle(input, context);
  }
  return typeof handler === "function"
    ? (context) => handler(input, context)
    : handler.prepare(input, { world, caller });
}

/**
 * Runs an effect as a release would run it, and rolls it back: no rule holds it back, and no budget.
 * @throws Failure of the effect.
 */
export async function rehearse(
  writing: WriteContext,
  effect: (context: WriteContext) => Promise<unknown>,
): Promise<void> {
  const { rules, ...rest } = writing.actor;
  const released = rules?.map((one) => ({ ...one, mode: "auto" as const, approve: {} }));
  const actor: Actor = { ...rest, exceedsBudgets: true, ...(released && { rules: released }) };
  await writing.tx.rehearse((tx) => effect({ ...writing, db: tx, tx, actor }));
}

/**
 * Whether a stored response belongs to a call that was held back. The operation has not run then, so no step
 * after the commit follows.
 */
export function isHeldResponse({ operation }: OperationCall, { status, isReplay }: CallResponse): boolean {
  return isReplay && status < 400 && status !== operation.status;
}

/** Runs the handler's step after the commit, and returns its response; by default the committed one. */
export async function followUp(call: OperationCall, committed: CallResponse): Promise<CallResponse> {
  const { handler, operation, input, context } = call;
  const afterCommit = afterCommitOf(handler);
  if (!afterCommit || isHeldResponse(call, committed)) {
    return committed;
  }
  const reading = createTenantContext(call, { db: context.world.database.queries });
  const changed = await afterCommit(committed.body, input, reading);
  if (changed === undefined) {
    return committed;
  }
  const { body } = createResponse(operation, changed);
  return { ...committed, body };
}

/** Whether the commit decides what the call has done. */
export function isSettled({ handler }: OperationCall, { body }: CallResponse): boolean {
  return typeof handler === "function" || !("isSettled" in handler) || handler.isSettled?.(body) !== false;
}

function afterCommitOf(handler: BoundHandler): PreparedHandler["afterCommit"] {
  return typeof handler !== "function" && "afterCommit" in handler ? handler.afterCommit : undefined;
}

/** Runs the handler in this context, and returns its result as the response. */
export async function runHandler(
  call: OperationCall<Caller | null>,
  context: PublicContext,
): Promise<CallResponse> {
  const handle = await prepareHandler(call, call.input);
  return createResponse(call.operation, await handle(context));
}

/** Adds the caller and the parts that the operation's effect may use to a call's context. */
export function createTenantContext<Parts extends object>({ context, caller }: OperationCall, parts: Parts) {
  return { ...context, caller, organization: caller.organization_id, ...parts };
}

/** The output schema removes every field that the contract does not name. */
export function createResponse(operation: Operation, result: unknown): CallResponse {
  return { status: operation.status, body: operation.output.parse(result), isReplay: false };
}
