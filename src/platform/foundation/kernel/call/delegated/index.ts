/**
 * Runs an operation that calls other operations. Each inner operation runs by its own call, with its own
 * scope, input and effect.
 */

import type { Operation } from "../../../../../../tools/contract/index.ts";
import { allowedOperations } from "../../../../../../tools/rule-operations.ts";
import { createToolReader } from "../../../../../../tools/tool-call.ts";
import type { Caller } from "../../actor.ts";
import type { DelegatedContext, World } from "../../context.ts";
import { bindToTools } from "../authorize.ts";
import type { CallResponse } from "../idempotency/index.ts";
import { type OperationCall, runHandler } from "../operation-call.ts";
import { createToolLists } from "./tools.ts";

/** A request for an inner operation, with the parts of the outer request that it keeps. */
interface InnerRequest extends Pick<OperationCall["context"], "address" | "signal"> {
  readonly operation: string;
  readonly tool: string;
  readonly caller: Caller;
  readonly input: unknown;
  readonly idempotencyKey: string | undefined;
  readonly route: string;
}

/** `call` runs the inner operations. The response is a replay if one of their responses is. */
export function createDelegatedRunner(
  catalogue: Readonly<Record<string, Operation>>,
  { hiddenBy }: World,
  call: (request: InnerRequest) => Promise<CallResponse>,
): (outer: OperationCall) => Promise<CallResponse> {
  const listTools = createToolLists(catalogue, hiddenBy);
  const readTool = createToolReader(catalogue);

  return async (outer) => {
    const { caller, context, route, key: idempotencyKey } = outer;
    const { address, signal } = context;
    const { scopes, rules } = bindToTools(caller);
    const allowed = allowedOperations(rules);
    let isReplay = false;
    const tools: DelegatedContext["tools"] = {
      list: () => listTools(scopes, allowed),

      async call(tool, sent) {
        const request = { name: tool, arguments: sent, scopes, allowed, hiddenBy };
        const { name: operation, input } = readTool(request);
        const response = await call({
          operation,
          tool,
          caller,
          input,
          idempotencyKey,
          route,
          address,
          signal,
        });
        isReplay ||= response.isReplay;
        // Every operation's output schema is an object.
        return response.body as Record<string, unknown>;
      },
    };
    const delegated: DelegatedContext = { ...context, caller, tools };
    return { ...(await runHandler(outer, delegated)), isReplay };
  };
}
