/** A call of an operation whose caller is authorized, and how its handler and its response are made from it. */

import type { Operation } from "../../../../../tools/contract/index.ts";
import type { Form } from "../../../../ports/transport/form.ts";
import type { Caller } from "../actor.ts";
import type { PrepareContext, PublicContext } from "../context.ts";
import type { AnyOutwardHandler, Module } from "../module.ts";
import type { CallResponse } from "./idempotency.ts";

/** `Who` is null where the requested path takes no credential of an organization. */
export interface OperationCall<Who extends Caller | null = Caller> {
  /** The operation's name. */
  readonly name: string;
  readonly operation: Operation;
  readonly handler: BoundHandler;
  readonly caller: Who;
  readonly context: PublicContext;
  /** Parsed; undefined if it arrives in `form`. */
  readonly input: unknown;
  /** A form that is still being received; only for a streamed operation. */
  readonly form: Form | undefined;
  /** The idempotency key that the caller sent. */
  readonly key: string | undefined;
  /** The route for which the idempotency key is unique. */
  readonly route: string;
}

/** The rest of a handler after its slow work. */
type PreparedEffect = (context: PublicContext) => Promise<unknown>;

/** The three forms of a handler: a function, a function in two steps, and the steps of an outward operation. */
export type BoundHandler =
  | ((input: unknown, context: PublicContext) => Promise<unknown>)
  | { prepare(input: unknown, context: PrepareContext): Promise<PreparedEffect> }
  | AnyOutwardHandler;

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

/** Does a handler's slow work, which needs no transaction, and returns the rest of the handler. */
export async function prepareHandler(
  { name, handler, caller, context: { world } }: OperationCall<Caller | null>,
  input: unknown,
): Promise<PreparedEffect> {
  if ("begin" in handler) {
    throw new Error(`The handler of ${name} has steps, but its effect is not outward`);
  }
  return typeof handler === "function"
    ? (context) => handler(input, context)
    : handler.prepare(input, { world, caller });
}

/** Runs the handler in this context, and returns its result as the response. */
export async function respond(
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
