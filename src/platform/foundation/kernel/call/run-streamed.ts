/**
 * Runs an operation that receives a file as a stream.
 *
 * No transaction is open while the file arrives: the handler stores the file first, and then commits the
 * upload as a whole. The file's hash is part of the request's content, so idempotency keys work as in every
 * write.
 */
import { fail } from "../../../../../tools/errors.ts";
import type { StreamedInput } from "../../../../ports/transport/form.ts";
import type { StreamedContext } from "../context.ts";
import type { Transaction } from "../transaction.ts";
import {
  executeWrite,
  findPreviousResponse,
  ownerOf,
  throwIfFailed,
  toIdempotentRequest,
} from "./execute-write.ts";
import type { CallResponse } from "./idempotency/index.ts";
import { createTenantContext, type OperationCall, prepareHandler } from "./operation-call.ts";
import {
  claimOfKey,
  closeIntent,
  keepRunning,
  type OwnIntent,
  openIntent,
  resolveAbandoned,
} from "./outward/index.ts";
import { parseInput } from "./parse-input.ts";

export async function runStreamed(call: OperationCall): Promise<CallResponse> {
  const { form, context } = call;
  // The fields of a form are known only once its file has been read.
  let { input } = call;
  const previous = form ? undefined : await findPreviousResponse(call, [input, null]);
  if (previous) {
    return previous;
  }
  let response: CallResponse | undefined;
  const intent = createStreamedIntent(call, () => [input, null]);
  const commit: StreamedContext["commit"] = async (fileIdentity, effect) => {
    response = await executeWrite(call, [input, fileIdentity], async (writing) => {
      await intent.close(writing.tx);
      return effect(writing);
    });
  };
  const streamed: StreamedInput<unknown> = {
    async read(receive) {
      const received = await form?.read(receive);
      if (received) {
        call.record.read(received.fields);
        input = parseInput(call.operation, received.fields);
      }
      return { input, file: received?.file };
    },
  };
  const handle = await prepareHandler(call, streamed);
  const { queries: db } = context.world.database;
  try {
    await handle(createTenantContext(call, { db, commit, beginOutward: intent.open }));
  } finally {
    await intent.release();
  }
  if (!response) {
    throw new Error(`The handler of ${call.name} returned without calling commit`);
  }
  return response;
}

/** The intent of a streamed operation that fetches its file from a third party instead of receiving it. */
function createStreamedIntent(call: OperationCall, content: () => readonly unknown[]) {
  const { caller } = call;
  const { world, actor } = call.context;
  let own: OwnIntent | undefined;
  let stop = () => {};
  return {
    async open(): Promise<void> {
      const request = toIdempotentRequest(call, ownerOf(caller), content());
      if (!request) {
        return;
      }
      const opened = await world.database.transaction((tx) =>
        openIntent(tx, request, { operation: call.name, actor }),
      );
      if (opened.state === "abandoned") {
        const outward = { ...call.context, organization: caller.organization_id };
        const task = {
          operation: call.operation,
          handler: undefined,
          outward,
          claim: claimOfKey(request, opened.own),
          record: call.record,
        };
        throwIfFailed(await resolveAbandoned(task, opened.stored));
      }
      if (opened.state !== "new") {
        // An earlier call has just ended: if the request is repeated, it gets the earlier response.
        throw fail("request_in_progress", { retry_after: 1 });
      }
      own = opened.own;
      stop = keepRunning(world, claimOfKey(request, own));
    },
    async close(tx: Transaction): Promise<void> {
      if (own && !(await closeIntent(tx, own))) {
        throw fail("outcome_unknown");
      }
    },
    /** Nothing was stored, so the request may be repeated with the same key. */
    async release(): Promise<void> {
      stop();
      const opened = own;
      if (opened) {
        await world.database.transaction((tx) => closeIntent(tx, opened));
      }
    },
  };
}
