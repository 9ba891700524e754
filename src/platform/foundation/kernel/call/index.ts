/**
 * Runs an operation: checks the caller's scope, parses the input, runs the handler and parses the output.
 *
 * The transport has already looked up the credential (`http/admission`), and passes its caller. Every
 * transport calls operations through here, so no transport has rules of its own. The effect of an operation
 * selects its runner, which opens the transactions, applies the idempotency key and runs the handler.
 */

import type { Effect, Operation } from "../../../../../tools/contract/index.ts";
import { fail } from "../../../../../tools/errors.ts";
import type { RequestHold } from "../../../../database/outage/index.ts";
import { anonymousOwner, runFor } from "../../../../database/sharing/index.ts";
import type { Form } from "../../../../ports/transport/form.ts";
import { actorOf, system } from "../actor.ts";
import type { World } from "../context.ts";
import type { Module } from "../module.ts";
import { agentOf, type CallRecord, createCallRecord, operatorAgent } from "./acts/index.ts";
import { authorize, type Requester } from "./authorize.ts";
import { throwDatabaseFailure } from "./database-errors.ts";
import { createDelegatedRunner } from "./delegated/index.ts";
import { executeWrite } from "./execute-write.ts";
import { runGated } from "./gate.ts";
import type { CallResponse } from "./idempotency/index.ts";
import { addNotFoundParam } from "./not-found-param.ts";
import {
  type BoundOperation,
  batchHandlerOf,
  bindHandlers,
  createTenantContext,
  followUp,
  type OperationCall,
  prepareHandler,
  runHandler,
} from "./operation-call.ts";
import { runOutward } from "./outward/index.ts";
import { parseInput } from "./parse-input.ts";
import { createBatchedRunner } from "./run-batched.ts";
import { runPublic } from "./run-public.ts";
import { runStreamed } from "./run-streamed.ts";

export { type ActLog, type ActStore, createActLog, type OwnActLog } from "./acts/index.ts";
export { requireScope } from "./authorize.ts";
export { throwDatabaseFailure } from "./database-errors.ts";
export { deleteExpiredResponsesJob, sealedResponses } from "./idempotency/index.ts";
export {
  type BoundOperation,
  bindHandlers,
  describeCall,
  outwardStepsOf,
  prepareHandler,
  rehearse,
} from "./operation-call.ts";
export { completeCall, createResolveJob, runningUntil } from "./outward/index.ts";
export { parseInput } from "./parse-input.ts";

/** One request, in the form in which a transport passes it. */
export interface CallRequest extends Requester {
  /** The operation's name in the catalogue. */
  readonly operation: string;
  /** The requested path; default: the operation's first path. */
  readonly path?: string;
  readonly input: unknown;
  /** A form that is still being received, in place of `input`; only for a streamed operation. */
  readonly form?: Form | undefined;
  readonly idempotencyKey?: string | undefined;
  /** The route for which the idempotency key is unique; default: method and path. */
  readonly route?: string;
  /** The IP address of the client. */
  readonly address?: string | undefined;
  /** The name of the tool, if an MCP tool makes the request. */
  readonly tool?: string | undefined;
  /** Aborted when the caller disconnects. */
  readonly signal: AbortSignal;
}

/** @throws Failure */
export type Call = (request: CallRequest) => Promise<CallResponse>;

type Runner = (call: OperationCall) => Promise<CallResponse>;

/**
 * Returns the function that runs every operation of these modules. `catalogue` contains the same operations,
 * keyed by name, in the order in which a delegated operation lists its tools. `hold` keeps the calls that may
 * run again while the database fails over.
 */
export function createCall(
  modules: readonly Module[],
  {
    catalogue,
    world,
    hold,
  }: {
    readonly catalogue: Readonly<Record<string, Operation>>;
    readonly world: World;
    readonly hold: RequestHold;
  },
): Call {
  const boundOperations = new Map(modules.flatMap(bindHandlers));
  const gates = modules.flatMap(({ gate }) => gate ?? []);

  const runBatched = createBatchedRunner(world);
  const runBatchedWrite: Runner = async (call) => followUp(call, await runBatched(call));
  const runners: Readonly<Record<Effect, Runner>> = {
    read: runRead,
    write: (call) => (batchHandlerOf(call.handler) ? runBatchedWrite(call) : runWrite(call)),
    outward: runOutward,
    streamed: runStreamed,
    delegated: createDelegatedRunner(catalogue, world, (request) => call(request)),
    public: runPublic,
  };

  const run = async (bound: BoundOperation, request: CallRequest, record: CallRecord) => {
    const authorized = toOperationCall(world, bound, { request, record });
    const { caller, operation } = authorized;
    // `authorize` has rejected requests that need a caller. Without one, this is the operation's public path,
    // which `runPublic` serves even for a read or write.
    if (!caller) {
      return runPublic(authorized);
    }
    const known = { ...authorized, caller };
    return runGated(gates, known, { sent: request.input, run: () => runners[operation.effect](known) });
  };

  const call: Call = async (request) => {
    const bound = boundOperations.get(request.operation);
    if (!bound) {
      throw fail("tool_not_found", { value: request.operation });
    }
    const record = startRecord(world, bound, request);
    const organization = request.caller?.organization_id ?? null;
    const work = () => run(bound, request, record);
    const held = { owner: organization ?? anonymousOwner, size: () => sizeOf(request.input) };
    try {
      const response = await runForCaller(organization, () =>
        isRepeatable(bound.operation, request) ? hold.run(held, work) : work(),
      );
      record.end(response);
      return response;
    } catch (error) {
      const shown = addNotFoundParam(error, bound.operation, request.input);
      record.fail(shown);
      throw shown;
    }
  };

  return call;
}

/**
 * Whether a call may run again if it is unknown what the first run has done: it changes nothing, or its
 * idempotency key finds out. A call of a third party is never repeated.
 */
function isRepeatable({ effect }: Operation, { idempotencyKey }: CallRequest): boolean {
  return effect === "read" || (idempotencyKey !== undefined && (effect === "write" || effect === "public"));
}

const sizeOf = (input: unknown) => Buffer.byteLength(JSON.stringify(input) ?? "");

function startRecord(world: World, { operation }: BoundOperation, request: CallRequest): CallRecord {
  const { operation: name, tool, input, caller, isOperator = false } = request;
  const agent = caller ? agentOf(caller) : isOperator ? operatorAgent : null;
  return createCallRecord({ acts: world.acts, name, operation, tool, input, now: world.now() }, agent);
}

/** @throws Failure of `authorize`, then of `parseInput`. */
function toOperationCall(
  world: World,
  { operation, handler }: BoundOperation,
  { request, record }: { readonly request: CallRequest; readonly record: CallRecord },
) {
  const path = request.path ?? operation.path;
  const otherPath = operation.also.find((other) => other.path === path);
  const caller = authorize([request.operation, operation], otherPath, request);
  return {
    name: request.operation,
    operation,
    handler,
    caller,
    context: {
      world,
      now: world.now(),
      variant: otherPath?.variant,
      address: request.address,
      tool: request.tool,
      signal: request.signal,
      actor: caller ? actorOf(caller, request.tool) : system,
    },
    input: request.form ? undefined : parseInput(operation, request.input),
    form: request.form,
    key: request.idempotencyKey,
    route: request.route ?? `${operation.method} ${path}`,
    record,
  };
}

async function runRead(call: OperationCall): Promise<CallResponse> {
  const db = call.context.world.database.queries;
  return runHandler(call, createTenantContext(call, { db }));
}

async function runWrite(call: OperationCall): Promise<CallResponse> {
  const handle = await prepareHandler(call, call.input);
  return followUp(call, await executeWrite(call, [call.input], handle));
}

/**
 * Runs the work of a request. `organization` selects the queue in which its queries wait for database
 * connections; null is the queue of requests without a caller.
 * @throws Failure if the database was busy, timed out or could not be used.
 */
export function runForCaller<Result>(
  organization: string | null,
  work: () => Promise<Result>,
): Promise<Result> {
  return runFor(organization ?? anonymousOwner, work).catch(throwDatabaseFailure);
}
