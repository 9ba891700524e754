/** Finds the operations that can be planned, and plans and runs their calls. */
import { permits } from "../../../../../tools/contract/index.ts";
import { fail } from "../../../../../tools/errors.ts";
import { createToolReader } from "../../../../../tools/tool-call.ts";
import type { Caller } from "../actor.ts";
import { type BoundOperation, bindHandlers, parseInput, requireScope } from "../call/index.ts";
import type { PrepareContext, WriteContext } from "../context.ts";
import type { Module, PlanSteps } from "../module.ts";
import type { PlannedCalls, PlannedRequest } from "../planned.ts";
import { prepareDerived } from "./derived.ts";

type Calls = PlannedCalls<PrepareContext, WriteContext>;

export function createPlannedCalls(modules: readonly Module[]): Calls {
  const all = new Map(modules.flatMap(bindHandlers));
  const plannable = new Map([...all].filter(([, bound]) => isPlannable(bound)));
  const readTool = createToolReader(
    Object.fromEntries([...all].map(([name, { operation }]) => [name, operation])),
  );

  const readRequest = (
    { operation: name = "", tool, input }: PlannedRequest,
    scopes: Caller["scopes"],
    hiddenBy: (tool: string) => string | undefined,
  ) =>
    tool === undefined
      ? { name, input }
      : readTool({ name: tool, arguments: input, scopes, hiddenBy: hiddenBy(tool) });

  return {
    readableBy: ({ scopes }) =>
      [...plannable]
        .filter(
          ([, { operation, handler }]) =>
            permits(scopes, operation.scope) && permits(scopes, stepsOf(handler)?.reads ?? null),
        )
        .map(([name]) => name),

    requireReadable(caller, name) {
      const found = plannable.get(name);
      requireScope(caller, found?.operation.scope ?? null);
      requireScope(caller, (found && stepsOf(found.handler)?.reads) ?? null);
    },

    isDestructive: (name) => plannable.get(name)?.operation.hints.destructive.is ?? true,

    find(request, caller, hiddenBy) {
      const { name, input } = readRequest(request, caller.scopes, hiddenBy);
      const found = plannable.get(name);
      if (!found) {
        throw fail("operation_not_planned", { value: request.tool ?? name });
      }
      const { operation, handler } = found;
      const steps = stepsOf(handler);
      requireScope(caller, operation.scope);
      requireScope(caller, steps?.reads ?? null);
      return {
        name,
        operation,
        input,
        async prepare(context) {
          const parsed = parseInput(operation, input);
          if (!steps) {
            return prepareDerived({ ...found, name, input: parsed }, all, context);
          }
          await steps.prepare?.(context);
          return {
            plan: (writing) => steps.plan(parsed, writing),
            run: (writing, call) => steps.run(parsed, writing, call),
          };
        },
      };
    },
  };
}

/**
 * Plans are not planned, nor is what needs a file, another service, or a signed-in person. An action that
 * sends something has to declare whom it would reach.
 */
function isPlannable({ operation, handler }: BoundOperation): boolean {
  const { effect, credential, method, path, hints } = operation;
  const isWrite = effect === "write" && credential === "any" && !path.startsWith("/v1/plans");
  const sends = hints.openWorld.is && method === "POST" && path.includes("{");
  return isWrite && (stepsOf(handler) !== undefined || !sends);
}

function stepsOf(handler: BoundOperation["handler"]): PlanSteps<unknown, unknown> | undefined {
  return typeof handler !== "function" && "planned" in handler ? handler.planned : undefined;
}
