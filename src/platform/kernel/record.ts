/** How a call's effect is recorded: in one transaction with its answer, once for its idempotency key. */

import { ErrorBody, type Operation } from "../../../tools/contract/index.ts";
import { restoreFailure } from "../../../tools/errors.ts";
import type { Caller, PublicContext, WriteContext } from "./context.ts";
import { type Answer, hashRequest, keepClear, keepSealed, once, recall } from "./idempotency.ts";

/** What is known of a call when its effect is recorded. */
export interface Run {
  readonly name: string;
  readonly operation: Operation;
  readonly context: PublicContext;
  readonly key: string | undefined;
  readonly route: string;
}

/** What the key stands for: another request under the same key is refused. */
type Content = readonly unknown[];

/** @throws Failure the one that was stored for this key, too. */
export async function record(
  run: Run,
  caller: Caller,
  content: Content,
  effect: (context: WriteContext) => Promise<unknown>,
): Promise<Answer> {
  const { operation, context } = run;
  const result = await context.world.database.transaction(async (tx) => {
    const perform = async () => answer(operation, await effect(tenant(context, caller, { db: tx, tx })));
    const claim = claimOf(run, caller, content);
    return claim ? once(tx, claim, perform) : perform();
  });
  return accept(result);
}

/** The answer that an earlier call under this key was given, for work that begins before a transaction. */
export async function findRecorded(run: Run, caller: Caller, content: Content): Promise<Answer | undefined> {
  const claim = claimOf(run, caller, content);
  const found = claim && (await recall(run.context.world.database.queries, claim));
  return found && accept(found);
}

function claimOf({ name, operation, context, key, route }: Run, caller: Caller, content: Content) {
  const { world, now } = context;
  return key === undefined
    ? undefined
    : {
        claim: { organization_id: caller.organization_id, credential_id: caller.credential.id, route, key },
        hashes: hashRequest(world, name, ...content),
        keeping: operation.showsSecret ? keepSealed(world) : keepClear,
        now,
      };
}

function accept(result: Answer): Answer {
  if (result.status >= 400) {
    throw restoreFailure(ErrorBody.parse(result.body), result.isReplay);
  }
  return result;
}

/** The context of a call, with the parts of the world that its effect may use. */
export function tenant<Parts extends object>(context: PublicContext, caller: Caller, parts: Parts) {
  return { ...context, caller, organization: caller.organization_id, ...parts };
}

/** What the contract does not name never leaves. */
export function answer(operation: Operation, result: unknown): Answer {
  return { status: operation.status, body: operation.output.parse(result), isReplay: false };
}
