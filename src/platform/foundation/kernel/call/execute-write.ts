/** Commits a call's effect in one transaction with its response, once per idempotency key. */

import { ErrorBody, type Failure, type Operation } from "../../../../../tools/contract/index.ts";
import { restoreFailure } from "../../../../../tools/errors.ts";
import type { TransactionOptions } from "../../../../database/database.ts";
import type { Caller, KeyOwner } from "../actor.ts";
import type { World, WriteContext } from "../context.ts";
import {
  type CallResponse,
  createSealedCodec,
  findStoredResponse,
  hashRequest,
  type IdempotentRequest,
  plainCodec,
  type ResponseCodec,
  runOnce,
} from "./idempotency/index.ts";
import { createResponse, createTenantContext, isSettled, type OperationCall } from "./operation-call.ts";

/** What the request contains. Reusing a key with other content is an error. */
type Content = readonly unknown[];

/**
 * Runs `effect` in a transaction and returns its response. A repeated idempotency key returns the stored
 * response, and `effect` does not run.
 * @throws Failure of `effect`, also one stored by an earlier call.
 */
export async function executeWrite(
  call: OperationCall,
  content: Content,
  effect: (context: WriteContext) => Promise<unknown>,
  options?: TransactionOptions,
): Promise<CallResponse> {
  const response = await call.context.world.database.transaction(async (tx) => {
    const respond = async () => {
      const result = await effect(createTenantContext(call, { db: tx, tx }));
      const done = createResponse(call.operation, result);
      if (isSettled(call, done)) {
        call.record.writeWith(tx, done);
      } else {
        call.record.defer();
      }
      return done;
    };
    const request = toIdempotentRequest(call, ownerOf(call.caller), content);
    return request ? runOnce(tx, request, respond) : respond();
  }, options);
  return throwIfFailed(response);
}

/**
 * Commits the effect that holds back a call. Its response is stored under the idempotency key of the call, so
 * that the call does not run when it is repeated and no rule binds it any more.
 */
export async function executeHeld(
  call: OperationCall,
  {
    failure,
    effect,
  }: { readonly failure: Failure; readonly effect: (context: WriteContext) => Promise<CallResponse> },
): Promise<CallResponse> {
  const response = await call.context.world.database.transaction((tx) => {
    const respond = async () => {
      const held = await effect(createTenantContext(call, { db: tx, tx }));
      if (!held.isReplay) {
        call.record.holdWith(tx, held, failure);
      }
      return held;
    };
    const request = toIdempotentRequest(call, ownerOf(call.caller), [call.input]);
    return request ? runOnce(tx, request, respond) : respond();
  });
  return throwIfFailed(response);
}

/**
 * The stored response to an earlier call with this key, for an operation that works before its transaction.
 */
export async function findPreviousResponse(
  call: OperationCall,
  content: Content,
): Promise<CallResponse | undefined> {
  const request = toIdempotentRequest(call, ownerOf(call.caller), content);
  const response = request && (await findStoredResponse(call.context.world.database.queries, request));
  return response && throwIfFailed(response);
}

export function toIdempotentRequest(
  { name, operation, context, key, route }: OperationCall<Caller | null>,
  owner: KeyOwner,
  content: Content,
): IdempotentRequest | undefined {
  if (key === undefined) {
    return undefined;
  }
  const { world, now } = context;
  return {
    idempotencyKey: { ...owner, route, key },
    hashes: hashRequest(world, name, ...content),
    codec: codecFor(operation, world),
    now,
  };
}

/** The caller as the owner of its idempotency keys. */
export function ownerOf({ organization_id, credential }: Caller): KeyOwner {
  return { organization_id, credential_id: credential.id };
}

/** Selects how the responses of an operation are stored. */
export function codecFor(operation: Operation, world: World): ResponseCodec {
  return operation.showsSecret ? createSealedCodec(world) : plainCodec;
}

/** @throws the Failure that the response contains. */
export function throwIfFailed(response: CallResponse): CallResponse {
  if (response.status >= 400) {
    throw restoreFailure(ErrorBody.parse(response.body), response.isReplay);
  }
  return response;
}
