/**
 * Runs an operation whose file comes in as a stream.
 *
 * No transaction is open while it comes: the handler puts the file aside, and records it when it is whole.
 * A repeated request is known by the file's own hash, so an idempotency key holds here as everywhere.
 */
import type { Operation } from "../../../tools/contract/index.ts";
import type { Caller, PublicContext, StreamedContext } from "./context.ts";
import {
  createTenantContext,
  executeWrite,
  findPreviousResponse,
  type OperationCall,
} from "./execute-write.ts";
import type { Form, IncomingFile } from "./form.ts";
import type { CallResponse } from "./idempotency.ts";

interface StreamedCall extends OperationCall {
  readonly operation: Operation;
  /** Undefined where the input came whole. */
  readonly form: Form | undefined;
  readonly rawInput: unknown;
  /** The one gate. @throws Failure `invalid_request`. */
  parse(input: unknown): unknown;
  prepare(arriving: unknown): Promise<(context: PublicContext) => Promise<unknown>>;
}

export async function runStreamed(run: StreamedCall, caller: Caller): Promise<CallResponse> {
  const { form, rawInput, context } = run;
  let input = form ? undefined : run.parse(rawInput);
  const known = form ? undefined : await findPreviousResponse(run, caller, [input, null]);
  if (known) {
    return known;
  }
  let recorded: CallResponse | undefined;
  const commit: StreamedContext["commit"] = async (facts, effect) => {
    recorded = await executeWrite(run, caller, [input, facts], effect);
  };
  const arriving = {
    async read<Taken>(take: (file: IncomingFile) => Promise<Taken>) {
      const read = form ? await form.read(take) : undefined;
      input = read ? run.parse(read.fields) : input;
      return { input, file: read?.file };
    },
  };
  const parts = { db: context.world.database.queries, commit };
  const handle = await run.prepare(arriving);
  await handle(createTenantContext(context, caller, parts));
  if (!recorded) {
    throw new Error(`${run.name} ended without recording anything`);
  }
  return recorded;
}
