/**
 * Runs an operation: credential → scope → input → handler → output.
 *
 * Every transport calls operations through here, so no transport has rules of its own.
 */

import {
  type Effect,
  failInput,
  inputMessages,
  type Operation,
  requireKnownMembers,
} from "../../../../../tools/contract/index.ts";
import { fail } from "../../../../../tools/errors.ts";
import { createToolReader } from "../../../../../tools/tool-call.ts";
import { runFor } from "../../../../database/fair-queue.ts";
import type { Form } from "../../../../ports/form.ts";
import { actorOf, type Caller, system } from "../actor.ts";
import type { DelegatedContext, PrepareContext, PublicContext, World } from "../context.ts";
import type { AnyOutwardHandler, Module } from "../module.ts";
import { authorize, type Requester } from "./authorize.ts";
import { throwDatabaseFailure } from "./database-errors.ts";
import { createDelegatedTools, createToolLists } from "./delegated-tools.ts";
import { createResponse, createTenantContext, executeWrite, type OperationCall } from "./execute-write.ts";
import type { CallResponse } from "./idempotency.ts";
import { nameParam } from "./name-param.ts";
import { runOutward } from "./run-outward.ts";
import { runPublic } from "./run-public.ts";
import { runStreamed } from "./run-streamed.ts";
import { requireStorable } from "./storable.ts";

export { requireScope } from "./authorize.ts";
export { throwDatabaseFailure } from "./database-errors.ts";
export { deleteExpiredResponsesJob, sealedResponses } from "./idempotency.ts";
export { createResolveJob } from "./resolve-job.ts";

/** One request, as a transport passes it on. */
export interface CallRequest extends Requester {
  /** The operation's name in the catalogue. */
  readonly operation: string;
  /** The requested path; default: the operation's first one. */
  readonly path?: string;
  readonly input: unknown;
  /** A form that is still being received, in place of `input`; only for a streamed operation. */
  readonly form?: Form | undefined;
  readonly idempotencyKey?: string | undefined;
  /** The route for which the idempotency key is unique; default: method and path. */
  readonly route?: string;
  /** The IP address of the client. */
  readonly address?: string | undefined;
  /** Aborted when the caller disconnects. */
  readonly signal: AbortSignal;
}

/** @throws Failure */
export type Call = (request: CallRequest) => Promise<CallResponse>;

/** An operation with its handler. The two steps of the handler are those of `PreparedHandler`. */
interface BoundOperation {
  readonly operation: Operation;
  /** Undefined unless the operation calls a third party. */
  readonly outwardHandler: AnyOutwardHandler | undefined;
  prepare(input: unknown, context: PrepareContext): Promise<(context: PublicContext) => Promise<unknown>>;
}

/** A call whose caller is authorized and whose input is valid. */
interface ValidCall extends OperationCall, Omit<BoundOperation, "prepare"> {
  readonly input: unknown;
  prepare(input: unknown): ReturnType<BoundOperation["prepare"]>;
}

/** The queue for connections of requests without a caller. */
const anonymous = "anonymous";

type Runner = (call: ValidCall, caller: Caller) => Promise<CallResponse>;

/**
 * Runs the work of a request, whose queries wait in the queue of its organization; null for a request without a caller.
 * @throws Failure for what the database could not do in time.
 */
export function runForCaller<Result>(
  organization: string | null,
  work: () => Promise<Result>,
): Promise<Result> {
  return runFor(organization ?? anonymous, work).catch(throwDatabaseFailure);
}

/** Returns the function that runs every operation of these modules. `catalogue` has them in the order of their lists. */
export function createCall(
  modules: readonly Module[],
  catalogue: Readonly<Record<string, Operation>>,
  world: World,
): Call {
  const boundOperations = new Map(modules.flatMap(bindHandlers));
  const listTools = createToolLists(catalogue, world.hiddenBy);
  const readTool = createToolReader(catalogue);

  const call: Call = (request) => {
    const operation = boundOperations.get(request.operation)?.operation;
    return runForCaller(request.caller?.organization_id ?? null, () => run(request)).catch((error) => {
      throw nameParam(error, operation, request.input);
    });
  };

  const run: Call = async (request) => {
    const bound = boundOperations.get(request.operation);
    if (!bound) {
      throw fail("tool_not_found", { value: request.operation });
    }
    const { operation } = bound;
    const { effect } = operation;
    const path = request.path ?? operation.path;
    const otherPath = operation.also.find((other) => other.path === path);
    const caller = authorize(operation, otherPath, request);
    const authorized = {
      ...bound,
      prepare: (input: unknown) => bound.prepare(input, { world, caller }),
      name: request.operation,
      context: {
        world,
        now: world.now(),
        variant: otherPath?.variant,
        address: request.address,
        signal: request.signal,
        actor: caller ? actorOf(caller) : system,
      },
      key: request.idempotencyKey,
      route: request.route ?? `${operation.method} ${path}`,
    };
    const parse = (input: unknown) => parseInput(operation, input);
    if (!caller) {
      // The path takes no credential, whatever the operation's effect.
      return runPublic({ ...authorized, input: parse(request.input) });
    }
    if (effect === "streamed") {
      return runStreamed({ ...authorized, form: request.form, rawInput: request.input, parse }, caller);
    }
    return runners[effect]({ ...authorized, input: parse(request.input) }, caller);
  };

  /** Runs other operations through `call`; the response is a replay if one of theirs is. */
  const runDelegated: Runner = async (outer, caller) => {
    const { key: idempotencyKey, route, context } = outer;
    let isReplay = false;
    const tools = createDelegatedTools({
      readTool,
      caller,
      hiddenBy: world.hiddenBy,
      listTools,
      async runOperation(operation, input) {
        const options = { idempotencyKey, route, address: context.address, signal: context.signal };
        const response = await call({ operation, caller, input, ...options });
        isReplay ||= response.isReplay;
        return response.body;
      },
    });
    const delegated: DelegatedContext = { ...context, caller, tools };
    return { ...(await respond(outer, delegated)), isReplay };
  };

  const runners: Record<Exclude<Effect, "streamed">, Runner> = {
    read: runRead,
    outward: async ({ outwardHandler: handler, ...outward }, caller) => {
      if (!handler) {
        throw new Error(`The handler of ${outward.name} has no steps`);
      }
      return runOutward({ ...outward, handler }, caller);
    },
    write: runWrite,
    delegated: runDelegated,
    public: runPublic,
  };

  return call;
}

async function runRead(call: ValidCall, caller: Caller): Promise<CallResponse> {
  const db = call.context.world.database.queries;
  return respond(call, createTenantContext(call.context, caller, { db }));
}

async function runWrite(call: ValidCall, caller: Caller): Promise<CallResponse> {
  const handle = await call.prepare(call.input);
  return executeWrite(call, caller, [call.input], handle);
}

async function respond(call: ValidCall, context: PublicContext): Promise<CallResponse> {
  const handle = await call.prepare(call.input);
  return createResponse(call.operation, await handle(context));
}

/** @throws Failure `invalid_request`, with one entry per wrong field; `unknown_argument`. */
function parseInput({ input: schema }: Operation, input: unknown): unknown {
  const parsed = schema.safeParse(input, { error: inputMessages });
  if (!parsed.success) {
    throw failInput(parsed.error.issues, input);
  }
  requireKnownMembers(schema, input as Readonly<Record<string, unknown>>); // the schema is that of an object
  requireStorable(parsed.data);
  return parsed.data;
}

function bindHandlers(module: Module): [string, BoundOperation][] {
  return Object.entries(module.contract).map(([name, operation]) => {
    // `implement` has checked that the handler fits the operation; `Module` keeps no types for each pair.
    const handler = module.operations[name] as
      | PlainHandler
      | Pick<BoundOperation, "prepare">
      | AnyOutwardHandler;
    const outwardHandler = "begin" in handler ? handler : undefined;
    return [name, { operation, outwardHandler, prepare: (...args) => prepareHandler(handler, ...args) }];
  });
}

async function prepareHandler(
  handler: PlainHandler | Pick<BoundOperation, "prepare"> | AnyOutwardHandler,
  input: unknown,
  context: PrepareContext,
): ReturnType<BoundOperation["prepare"]> {
  if ("begin" in handler) {
    throw new Error("An outward operation runs in steps");
  }
  return typeof handler === "function"
    ? (running) => handler(input, running)
    : handler.prepare(input, context);
}

type PlainHandler = (input: unknown, context: PublicContext) => Promise<unknown>;
