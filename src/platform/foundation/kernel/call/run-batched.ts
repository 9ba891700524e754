/**
 * Runs the calls of an operation whose calls can share a transaction (`BatchedHandler`).
 *
 * While a transaction runs, the calls that arrive wait for the next one. A transaction commits the effects
 * and the responses of all its calls, and waits only briefly for locks. A call that it does not handle, such
 * as a call that fails, or that repeats an idempotency key, then runs alone, in a transaction of its own: so
 * failures are handled in one place, and a call that waits delays no other call.
 */

import { FairBatches, recursAlone, sharedLockTimeoutMs } from "../../../../database/sharing/index.ts";
import { isLockTimeout } from "../../../../database/transaction.ts";
import type { World } from "../context.ts";
import type { BatchedCall } from "../module.ts";
import type { Transaction } from "../transaction.ts";
import { executeWrite, ownerOf, toIdempotentRequest } from "./execute-write.ts";
import type { CallResponse, IdempotentRequest } from "./idempotency/index.ts";
import { findStoredKeys, formatKey, insertResponses } from "./idempotency/index.ts";
import {
  batchHandlerOf,
  createResponse,
  createTenantContext,
  type OperationCall,
  prepareHandler,
} from "./operation-call.ts";

/** In a larger batch, the first calls would wait too long for the last ones. */
const maxBatchSize = 64;

interface PendingCall {
  readonly call: OperationCall;
  readonly traceparent: string | undefined;
}

/** The response; undefined if the call has to run alone. */
type Outcome = CallResponse | undefined;

/** Returns the function that runs the calls. Each operation has its own batches. */
export function createBatchedRunner(world: World): (call: OperationCall) => Promise<CallResponse> {
  const batchesOf = new Map<string, FairBatches<PendingCall, Outcome>>();
  const createBatches = () =>
    new FairBatches<PendingCall, Outcome>((calls) => runBatch(world, calls), maxBatchSize);
  return async (call) => {
    const batches = batchesOf.get(call.name) ?? createBatches();
    batchesOf.set(call.name, batches);
    const pending = { call, traceparent: world.traceparent() };
    return (await batches.add(call.caller.organization_id, pending)) ?? runAlone(call);
  };
}

async function runBatch(world: World, calls: readonly PendingCall[]): Promise<readonly Outcome[]> {
  const [first] = calls;
  try {
    return calls.length === 1 && first
      ? [await runAlone(first.call, { lockTimeoutMs: sharedLockTimeoutMs })]
      : await runTogether(world, calls);
  } catch (error) {
    // A batch of one call was that call alone, so only a lock that was not free in time is worth another run.
    const isFinal = recursAlone(error) || calls.length === 1;
    if (isFinal && !isLockTimeout(error)) {
      throw error;
    }
    return calls.map(() => undefined);
  }
}

async function runAlone(
  call: OperationCall,
  options: { readonly lockTimeoutMs?: number } = {},
): Promise<CallResponse> {
  const handler = await prepareHandler(call, call.input);
  return executeWrite(call, [call.input], handler, { keepsPlans: true, ...options });
}

async function runTogether(world: World, calls: readonly PendingCall[]): Promise<readonly Outcome[]> {
  const requests = requestsOf(calls);
  return world.database.transaction(
    async (tx) => {
      const responses = await handle(tx, world, await withoutRepeated(tx, calls, requests));
      tx.sendWithCommit(() => storeAll(tx, requests, responses));
      world.acts.writeWith(
        tx,
        [...responses].flatMap(([{ call }, response]) => call.record.toAct(response) ?? []),
      );
      return calls.map((pending) => responses.get(pending));
    },
    { keepsPlans: true, lockTimeoutMs: sharedLockTimeoutMs },
  );
}

type Requests = ReadonlyMap<PendingCall, IdempotentRequest>;

/** The requests of the calls that have an idempotency key. */
function requestsOf(calls: readonly PendingCall[]): Requests {
  return new Map(
    calls.flatMap((pending) => {
      const { call } = pending;
      const request = toIdempotentRequest(call, ownerOf(call.caller), [call.input]);
      return request ? [[pending, request] as const] : [];
    }),
  );
}

/** The calls without a key, and the first call with each key that is not stored. */
async function withoutRepeated(
  tx: Transaction,
  calls: readonly PendingCall[],
  requests: Requests,
): Promise<readonly PendingCall[]> {
  const used = new Set(requests.size === 0 ? [] : await findStoredKeys(tx, [...requests.values()]));
  return calls.filter((pending) => {
    const request = requests.get(pending);
    if (request === undefined) {
      return true;
    }
    const key = formatKey(request.idempotencyKey);
    const isUsed = used.has(key);
    used.add(key);
    return !isUsed;
  });
}

type Responses = ReadonlyMap<PendingCall, CallResponse>;

/** The responses of the calls that were handled. */
async function handle(tx: Transaction, world: World, calls: readonly PendingCall[]): Promise<Responses> {
  const [first] = calls;
  const handleTogether = first && batchHandlerOf(first.call.handler);
  if (!handleTogether) {
    return new Map();
  }
  const batched = calls.map(({ call, traceparent }): BatchedCall<unknown> => {
    return { input: call.input, context: createTenantContext(call, { db: tx }), traceparent };
  });
  const results = await handleTogether({ tx, world }, batched);
  return new Map(
    calls.flatMap((pending, index) => {
      const result = results[index];
      return result === undefined ? [] : [[pending, createResponse(pending.call.operation, result)] as const];
    }),
  );
}

/**
 * Stores the responses of the calls with a key. It fails if a request in another transaction has used one of
 * the keys meanwhile: then the transaction is rolled back, and each call runs alone.
 */
async function storeAll(tx: Transaction, requests: Requests, responses: Responses): Promise<void> {
  const answered = [...responses].flatMap(([pending, response]) => {
    const request = requests.get(pending);
    return request ? [{ request, response }] : [];
  });
  if (answered.length > 0) {
    await insertResponses(tx, answered);
  }
}
