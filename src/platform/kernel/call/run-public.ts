/** Runs an operation without a caller. */
import type { Transaction } from "../../../database/database.ts";
import type { KeyOwner, OpenContext, PublicContext } from "../context.ts";
import { createResponse, type OperationCall, toIdempotentRequest } from "./execute-write.ts";
import { type CallResponse, deleteStoredResponse, runOnce } from "./idempotency.ts";

export interface PublicCall extends OperationCall {
  readonly input: unknown;
  prepare(input: unknown): Promise<(context: PublicContext) => Promise<unknown>>;
}

const nothing: CallResponse = { status: 200, body: null, isReplay: false };

export async function runPublic(call: PublicCall): Promise<CallResponse> {
  const { operation, context } = call;
  let isReplay = false;
  const once: OpenContext["once"] = <Result>(owner: KeyOwner, effect: (tx: Transaction) => Promise<Result>) =>
    context.world.database.transaction(async (tx) => {
      const request = toIdempotentRequest(call, owner, [call.input]);
      if (!request) {
        return effect(tx);
      }
      const response = await runOnce(tx, request, async () => {
        const result = await effect(tx);
        return result === undefined ? nothing : createResponse(operation, result);
      });
      isReplay = response.isReplay;
      if (response.body === null) {
        await deleteStoredResponse(tx, request.idempotencyKey);
      }
      // The body is what `effect` returned, now or for an earlier call with the same key.
      return (response.body ?? undefined) as Result;
    });
  const handle = await call.prepare(call.input);
  const open: OpenContext = { ...context, once };
  return { ...createResponse(operation, await handle(open)), isReplay };
}
