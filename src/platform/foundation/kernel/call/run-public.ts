/** Runs an operation without a caller. */

import type { KeyOwner } from "../actor.ts";
import type { OpenContext, PublicContext } from "../context.ts";
import type { Transaction } from "../transaction.ts";
import { createResponse, type OperationCall, throwIfFailed, toIdempotentRequest } from "./execute-write.ts";
import { type CallResponse, deleteStoredResponse, type IdempotentRequest, runOnce } from "./idempotency.ts";

export interface PublicCall extends OperationCall {
  readonly input: unknown;
  prepare(input: unknown): Promise<(context: PublicContext) => Promise<unknown>>;
}

const nothing: CallResponse = { status: 200, body: null, isReplay: false };

export async function runPublic(call: PublicCall): Promise<CallResponse> {
  const { operation, context } = call;
  let isReplay = false;
  const once: OpenContext["once"] = async <Result>(
    owner: KeyOwner,
    effect: (tx: Transaction) => Promise<Result>,
  ) => {
    const request = toIdempotentRequest(call, owner, [call.input]);
    if (!request) {
      return context.world.database.transaction(effect);
    }
    const response = await context.world.database.transaction((tx) => runOnceStored(tx, request, effect));
    isReplay = response.isReplay;
    // The body is what `effect` returned, now or for an earlier call with the same key.
    return (throwIfFailed(response).body ?? undefined) as Result;
  };
  const runOnceStored = async (
    tx: Transaction,
    request: IdempotentRequest,
    effect: (tx: Transaction) => Promise<unknown>,
  ) => {
    const response = await runOnce(tx, request, async () => {
      const result = await effect(tx);
      return result === undefined ? nothing : createResponse(operation, result);
    });
    if (response.body === null) {
      await deleteStoredResponse(tx, request.idempotencyKey);
    }
    return response;
  };
  const handle = await call.prepare(call.input);
  const open: OpenContext = { ...context, once };
  return { ...createResponse(operation, await handle(open)), isReplay };
}
