/**
 * Runs an operation whose file comes in as a stream.
 *
 * No transaction is open while it comes: the handler puts the file aside, and records it when it is whole.
 * A repeated request is known by the file's own hash, so an idempotency key holds here as everywhere.
 */
import type { Operation } from "../../../tools/contract/index.ts";
import type { Caller, PublicContext, StreamedContext } from "./context.ts";
import type { Form, IncomingFile } from "./form.ts";
import type { Answer } from "./idempotency.ts";
import { findRecorded, type Run, record, tenant } from "./record.ts";

interface StreamedRun extends Run {
  readonly operation: Operation;
  /** Undefined where the input came whole. */
  readonly form: Form | undefined;
  readonly given: unknown;
  /** The one gate. @throws Failure `invalid_request`. */
  parse(input: unknown): unknown;
  prepare(arriving: unknown): Promise<(context: PublicContext) => Promise<unknown>>;
}

export async function streamed(run: StreamedRun, caller: Caller): Promise<Answer> {
  const { form, given, context } = run;
  let input = form ? undefined : run.parse(given);
  const known = form ? undefined : await findRecorded(run, caller, [input, null]);
  if (known) {
    return known;
  }
  let recorded: Answer | undefined;
  const commit: StreamedContext["commit"] = async (facts, effect) => {
    recorded = await record(run, caller, [input, facts], effect);
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
  await handle(tenant(context, caller, parts));
  if (!recorded) {
    throw new Error(`${run.name} ended without recording anything`);
  }
  return recorded;
}
