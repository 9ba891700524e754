/** How a call's effect is recorded: in one transaction with its answer, once for its idempotency key. */

import { ErrorBody, type Operation } from "../../../tools/contract/index.ts";
import { restoreFailure } from "../../../tools/errors.ts";
import type { Caller, PublicContext, WriteContext } from "./context.ts";
import {
  type CallResponse,
  createSealedCodec,
  findStoredResponse,
  hashRequest,
  plainCodec,
  runOnce,
} from "./idempotency.ts";

/** What is known of a call when its effect is recorded. */
export interface OperationCall {
  readonly name: string;
  readonly operation: Operation;
  readonly context: PublicContext;
  readonly key: string | undefined;
  readonly route: string;
}

/** What the key stands for: another request under the same key is refused. */
type Content = readonly unknown[];

/** @throws Failure the one that was stored for this key, too. */
export async function executeWrite(
  run: OperationCall,
  caller: Caller,
  content: Content,
  effect: (context: WriteContext) => Promise<unknown>,
): Promise<CallResponse> {
  const { operation, context } = run;
  const result = await context.world.database.transaction(async (tx) => {
    const perform = async () =>
      createResponse(operation, await effect(createTenantContext(context, caller, { db: tx, tx })));
    const request = toIdempotentRequest(run, caller, content);
    return request ? runOnce(tx, request, perform) : perform();
  });
  return throwIfFailed(result);
}

/** The answer that an earlier call under this key was given, for work that begins before a transaction. */
export async function findPreviousResponse(
  run: OperationCall,
  caller: Caller,
  content: Content,
): Promise<CallResponse | undefined> {
  const request = toIdempotentRequest(run, caller, content);
  const found = request && (await findStoredResponse(run.context.world.database.queries, request));
  return found && throwIfFailed(found);
}

function toIdempotentRequest(
  { name, operation, context, key, route }: OperationCall,
  caller: Caller,
  content: Content,
) {
  const { world, now } = context;
  return key === undefined
    ? undefined
    : {
        idempotencyKey: {
          organization_id: caller.organization_id,
          credential_id: caller.credential.id,
          route,
          key,
        },
        hashes: hashRequest(world, name, ...content),
        codec: operation.showsSecret ? createSealedCodec(world) : plainCodec,
        now,
      };
}

function throwIfFailed(result: CallResponse): CallResponse {
  if (result.status >= 400) {
    throw restoreFailure(ErrorBody.parse(result.body), result.isReplay);
  }
  return result;
}

/** The context of a call, with the parts of the world that its effect may use. */
export function createTenantContext<Parts extends object>(
  context: PublicContext,
  caller: Caller,
  parts: Parts,
) {
  return { ...context, caller, organization: caller.organization_id, ...parts };
}

/** What the contract does not name never leaves. */
export function createResponse(operation: Operation, result: unknown): CallResponse {
  return { status: operation.status, body: operation.output.parse(result), isReplay: false };
}
