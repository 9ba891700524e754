/** Runs an operation without a caller. */

import type { Caller, KeyOwner } from "../actor.ts";
import type { OpenContext } from "../context.ts";
import type { Transaction } from "../transaction.ts";
import { throwIfFailed, toIdempotentRequest } from "./execute-write.ts";
import {
  type CallResponse,
  deleteStoredResponse,
  type IdempotentRequest,
  runOnce,
} from "./idempotency/index.ts";
import { createResponse, type OperationCall, runHandler } from "./operation-call.ts";

const nothing: CallResponse = { status: 200, body: null, isReplay: false };

export async function runPublic(call: OperationCall<Caller | null>): Promise<CallResponse> {
  const { operation, context } = call;
  let isReplay = false;
  const once: OpenContext["once"] = async <Result>(
    owner: KeyOwner,
    effect: (tx: Transaction) => Promise<Result>,
  ) => {
    const request = toIdempotentRequest(call, owner, [call.input]);
    if (!request) {
      return context.world.database.transaction(async (tx) => {
        const result = await effect(tx);
        recordResult(tx, result);
        return result;
      });
    }
    const response = await context.world.database.transaction((tx) => runOnceStored(tx, request, effect));
    isReplay = response.isReplay;
    // `effect` returned the body, now or in an earlier call with the same key.
    return (throwIfFailed(response).body ?? undefined) as Result;
  };
  const recordResult = (tx: Transaction, result: unknown) => {
    if (result !== undefined) {
      call.record.writeWith(tx, createResponse(operation, result));
    }
  };
  const runOnceStored = async (
    tx: Transaction,
    request: IdempotentRequest,
    effect: (tx: Transaction) => Promise<unknown>,
  ) => {
    const response = await runOnce(tx, request, async () => {
      const result = await effect(tx);
      recordResult(tx, result);
      return result === undefined ? nothing : createResponse(operation, result);
    });
    if (response.body === null) {
      await deleteStoredResponse(tx, request.idempotencyKey);
    }
    return response;
  };
  const open: OpenContext = { ...context, once, record: call.record };
  return { ...(await runHandler(call, open)), isReplay };
}
