/**
 * Runs an operation that receives a file as a stream.
 *
 * No transaction is open while the file arrives: the handler stores the file first and then commits it as
 * a whole. The file's hash is part of the request's content, so idempotency keys work as for every write.
 */
import type { Caller, Form, PublicContext, StreamedContext, StreamedInput } from "../context.ts";
import {
  createTenantContext,
  executeWrite,
  findPreviousResponse,
  type OperationCall,
} from "./execute-write.ts";
import type { CallResponse } from "./idempotency.ts";

interface StreamedCall extends OperationCall {
  /** Undefined if the request is not a form; then `rawInput` is the whole input. */
  readonly form: Form | undefined;
  readonly rawInput: unknown;
  /** @throws Failure `invalid_request`. */
  parse(input: unknown): unknown;
  prepare(input: StreamedInput<unknown>): Promise<(context: PublicContext) => Promise<unknown>>;
}

export async function runStreamed(call: StreamedCall, caller: Caller): Promise<CallResponse> {
  const { form, rawInput, context } = call;
  // The fields of a form are known only once its file has been read.
  let input = form ? undefined : call.parse(rawInput);
  const previous = form ? undefined : await findPreviousResponse(call, caller, [input, null]);
  if (previous) {
    return previous;
  }
  let response: CallResponse | undefined;
  const commit: StreamedContext["commit"] = async (fileIdentity, effect) => {
    response = await executeWrite(call, caller, [input, fileIdentity], effect);
  };
  const handle = await call.prepare({
    async read(receive) {
      const received = await form?.read(receive);
      input = received ? call.parse(received.fields) : input;
      return { input, file: received?.file };
    },
  });
  await handle(createTenantContext(context, caller, { db: context.world.database.queries, commit }));
  if (!response) {
    throw new Error(`The handler of ${call.name} returned without calling commit`);
  }
  return response;
}
