/** Runs an operation without a caller. */
import type { OpenContext, PublicContext } from "../context.ts";
import { codecFor, createResponse, type OperationCall } from "./execute-write.ts";
import { type CallResponse, deleteStoredResponse, hashRequest, runOnce } from "./idempotency.ts";

export interface PublicCall extends OperationCall {
  readonly input: unknown;
  prepare(input: unknown): Promise<(context: PublicContext) => Promise<unknown>>;
}

const nothing: CallResponse = { status: 200, body: null, isReplay: false };

export async function runPublic(call: PublicCall): Promise<CallResponse> {
  const { name, operation, context, key, route, input } = call;
  const { world, now } = context;
  let isReplay = false;
  const once: OpenContext["once"] = (owner, effect) =>
    world.database.transaction(async (tx) => {
      if (key === undefined) {
        return effect(tx);
      }
      const request = {
        idempotencyKey: { ...owner, route, key },
        hashes: hashRequest(world, name, input),
        codec: codecFor(operation, world),
        now,
      };
      const response = await runOnce(tx, request, async () => {
        const result = await effect(tx);
        return result === undefined ? nothing : createResponse(operation, result);
      });
      isReplay = response.isReplay;
      if (response.body === null) {
        await deleteStoredResponse(tx, request.idempotencyKey);
      }
      return response.body ?? undefined;
    });
  const handle = await call.prepare(input);
  const open: OpenContext = { ...context, once };
  return { ...createResponse(operation, await handle(open)), isReplay };
}
