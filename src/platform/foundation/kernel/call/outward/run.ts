/**
 * Runs an operation that calls a third party.
 *
 * The intent is committed first, then the third party is called with no transaction open, then the result is
 * recorded together with the response. A request with the same key meanwhile is rejected with
 * `request_in_progress`. If the process dies in between, the next request with the key, or a job, looks the
 * call up; if that is not possible, the response is `outcome_unknown`. The call is never repeated with the
 * same key. Without a key nothing is stored before the call.
 */
import { Failure, type Operation } from "../../../../../../tools/contract/index.ts";
import { fail } from "../../../../../../tools/errors.ts";
import type { OutwardContext } from "../../context.ts";
import type { AnyOutwardHandler } from "../../module.ts";
import type { OutwardClaim } from "../../planned.ts";
import type { Transaction } from "../../transaction.ts";
import type { CallRecord } from "../acts/index.ts";
import { ownerOf, throwIfFailed, toIdempotentRequest } from "../execute-write.ts";
import { type CallResponse, isPermanent } from "../idempotency/index.ts";
import {
  createResponse,
  createTenantContext,
  type OperationCall,
  outwardStepsOf,
} from "../operation-call.ts";
import { keepRunning } from "./claim.ts";
import { claimOfKey, openIntent, type StoredIntent, saveIntent } from "./intents.ts";

export async function runOutward(call: OperationCall): Promise<CallResponse> {
  const { caller, context, operation } = call;
  const handler = outwardStepsOf(call.handler);
  if (!handler) {
    throw new Error(`The handler of ${call.name} has no steps`);
  }
  const { database } = context.world;
  const request = toIdempotentRequest(call, ownerOf(caller), [call.input]);
  const outward = { ...context, organization: caller.organization_id };
  const begin = (tx: Transaction) => handler.begin(call.input, createTenantContext(call, { db: tx, tx }));
  if (!request) {
    const intent = await database.transaction(begin);
    const result = await handler.call(intent, outward);
    return database.transaction((tx) =>
      recordResult({ operation, handler, outward, record: call.record }, tx, { intent, result }),
    );
  }
  const opened = await database.transaction(async (tx) => {
    const state = await openIntent(tx, request, { operation: call.name, actor: context.actor });
    if (state.state !== "new") {
      return state;
    }
    const intent = await begin(tx);
    await saveIntent(tx, state.own, intent);
    return { ...state, intent };
  });
  if (opened.state === "answered") {
    return throwIfFailed(opened.response);
  }
  const claim = claimOfKey(request, opened.own);
  const task = { operation, handler, outward, claim, record: call.record };
  return throwIfFailed(
    await whileRunning(task, () =>
      opened.state === "new"
        ? callAndRecord(task, handler, opened.intent)
        : resolveAbandoned(task, opened.stored),
    ),
  );
}

/**
 * Makes the call of an intent that is committed with its claim, or resolves it if its process died. Returns
 * the stored response.
 * @throws Failure if the third party did not accept the call, which may be made again; any error after which
 *   the outcome is unknown, which is then the stored response.
 */
export function completeCall(
  task: OutwardTask & { readonly handler: AnyOutwardHandler },
  { intent, isAbandoned }: { readonly intent: unknown; readonly isAbandoned: boolean },
): Promise<CallResponse> {
  const { handler, outward } = task;
  return whileRunning(task, () =>
    isAbandoned
      ? resolveAbandoned(task, { actor: outward.actor, intent })
      : callAndRecord(task, handler, handler.intent.parse(intent)),
  );
}

async function whileRunning<Result>(
  { outward, claim }: OutwardTask,
  run: () => Promise<Result>,
): Promise<Result> {
  const stop = keepRunning(outward.world, claim);
  try {
    return await run();
  } finally {
    stop();
  }
}

/** A call whose intent is stored. */
export interface OutwardTask {
  readonly operation: Operation;
  /** Undefined for a streamed operation, whose call can't be looked up. */
  readonly handler: AnyOutwardHandler | undefined;
  readonly outward: OutwardContext;
  readonly claim: OutwardClaim;
  /** Undefined for the call of a plan, whose run is recorded. */
  readonly record: CallRecord | undefined;
}

async function callAndRecord(
  task: OutwardTask,
  handler: AnyOutwardHandler,
  intent: unknown,
): Promise<CallResponse> {
  const { outward, claim } = task;
  let result: unknown;
  try {
    result = await handler.call(intent, outward);
  } catch (error) {
    if (error instanceof Failure && isPermanent(error.status)) {
      return end(task, async () => toResponse(error));
    }
    if (error instanceof Failure) {
      // The handler knows that the third party did not accept the call, so the call may be tried again with
      // the same key.
      await outward.world.database.transaction((tx) => claim.reopen(tx, error));
    } else {
      await end(task, async () => toResponse(fail("outcome_unknown")));
    }
    throw error;
  }
  return endWithFailure(task, (tx) => recordResult({ ...task, handler }, tx, { intent, result }));
}

/** Ends a call whose process died. */
export async function resolveAbandoned(
  task: OutwardTask,
  { actor, intent }: StoredIntent,
): Promise<CallResponse> {
  const { handler } = task;
  const outward = { ...task.outward, actor: { ...actor, scopes: new Set<never>() } };
  let result: unknown;
  try {
    result = await handler?.find?.(handler.intent.parse(intent), outward);
  } catch (error) {
    if (error instanceof Failure && isPermanent(error.status)) {
      return end(task, async () => toResponse(error));
    }
    throw error;
  }
  return endWithFailure(task, async (tx) =>
    handler === undefined || result === undefined
      ? toResponse(fail("outcome_unknown"))
      : recordResult({ ...task, handler, outward }, tx, { intent, result }),
  );
}

/**
 * Like `end`, but if `record` finds a caller's mistake, such as a name that was taken meanwhile, the failure
 * becomes the response.
 */
async function endWithFailure(
  task: OutwardTask,
  effect: (tx: Transaction) => Promise<CallResponse>,
): Promise<CallResponse> {
  try {
    return await end(task, effect);
  } catch (error) {
    if (error instanceof Failure && isPermanent(error.status)) {
      return end(task, async () => toResponse(error));
    }
    throw error;
  }
}

/**
 * Stores the response and deletes the intent. If another call has taken the intent over, the response of the
 * other call counts; if the other call has not ended either, the outcome is unknown.
 */
async function end(
  { outward, claim }: OutwardTask,
  effect: (tx: Transaction) => Promise<CallResponse>,
): Promise<CallResponse> {
  return outward.world.database.transaction(async (tx) => {
    if (!(await claim.close(tx))) {
      return (await claim.findResponse(tx)) ?? toResponse(fail("outcome_unknown"));
    }
    const response = await effect(tx);
    await claim.storeResponse(tx, response);
    return response;
  });
}

async function recordResult(
  {
    operation,
    handler,
    outward,
    record,
  }: Pick<OutwardTask, "operation" | "outward" | "record"> & { readonly handler: AnyOutwardHandler },
  tx: Transaction,
  { intent, result }: { readonly intent: unknown; readonly result: unknown },
): Promise<CallResponse> {
  const response = createResponse(operation, await handler.record(result, intent, { ...outward, tx }));
  record?.writeWith(tx, response);
  return response;
}

function toResponse(failure: Failure): CallResponse {
  return { status: failure.status, body: failure.body(), isReplay: false };
}
