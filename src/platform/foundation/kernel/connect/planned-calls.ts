/** Finds the operations that can be planned, and plans and runs their calls. */
import { permits } from "../../../../../tools/contract/index.ts";
import { fail } from "../../../../../tools/errors.ts";
import {
  allowedOperations,
  permitsOperation,
  requireOperation,
} from "../../../../../tools/rule-operations.ts";
import { operationsWithoutRecipients } from "../../../../../tools/rules.ts";
import { createToolReader } from "../../../../../tools/tool-call.ts";
import type { Caller } from "../actor.ts";
import {
  type BoundOperation,
  bindHandlers,
  completeCall,
  outwardStepsOf,
  parseInput,
  requireScope,
} from "../call/index.ts";
import type { World } from "../context.ts";
import type { Module, PlanSteps } from "../module.ts";
import type { PlannedRequest } from "../planned.ts";
import { prepareDerived } from "./derived.ts";

type Calls = World["plannedCalls"];

export function createPlannedCalls(modules: readonly Module[]): Calls {
  const all = new Map(modules.flatMap(bindHandlers));
  const plannable = new Map([...all].filter(([name, bound]) => isPlannable(name, bound)));
  const readTool = createToolReader(
    Object.fromEntries([...all].map(([name, { operation }]) => [name, operation])),
  );

  const readRequest = (
    { operation: name = "", tool, input }: PlannedRequest,
    { scopes, rules }: Caller,
    hiddenBy: (tool: string) => string | undefined,
  ) => {
    if (tool === undefined) {
      return { name, input };
    }
    const allowed = allowedOperations(rules);
    return readTool({ name: tool, arguments: input, scopes, allowed, hiddenBy });
  };

  return {
    readableBy: ({ scopes, rules }) =>
      [...plannable]
        .filter(
          ([name, { operation, handler }]) =>
            permits(scopes, operation.scope) &&
            permits(scopes, stepsOf(handler)?.reads ?? null) &&
            permitsOperation(allowedOperations(rules), name),
        )
        .map(([name]) => name),

    requireReadable(caller, name) {
      const found = plannable.get(name);
      requireScope(caller, found?.operation.scope ?? null);
      requireScope(caller, (found && stepsOf(found.handler)?.reads) ?? null);
      requireOperation(allowedOperations(caller.rules), name);
    },

    isDestructive: (name) => plannable.get(name)?.operation.hints.destructive.is ?? true,

    find(request, caller, hiddenBy) {
      const { name, input } = readRequest(request, caller, hiddenBy);
      const found = plannable.get(name);
      if (!found) {
        throw fail("operation_not_planned", { value: request.tool ?? name });
      }
      const { operation, handler } = found;
      const steps = stepsOf(handler);
      requireScope(caller, operation.scope);
      requireScope(caller, steps?.reads ?? null);
      requireOperation(allowedOperations(caller.rules), name);
      return {
        name,
        operation,
        input,
        async prepare(context) {
          const parsed = parseInput(operation, input);
          if (!steps) {
            return prepareDerived({ ...found, name, input: parsed }, all, context);
          }
          await steps.prepare?.({ world: context.world, organization: caller.organization_id });
          return {
            plan: (writing) => steps.plan(parsed, writing, { files: {} }),
            run: (writing, call) => steps.run(parsed, writing, call),
          };
        },
      };
    },

    async resume({ operation: name, input }, scope) {
      const found = plannable.get(name);
      const steps = found && stepsOf(found.handler);
      if (!steps) {
        throw new Error(`${name} is not planned by a job`);
      }
      const parsed = parseInput(found.operation, input);
      await steps.prepare?.(scope);
      return {
        plan: (changing, earlier) => steps.plan(parsed, changing, earlier),
        async planTargets(changing, request) {
          if (!steps.planTargets) {
            throw new Error(`${name} plans no batches of targets`);
          }
          return steps.planTargets(parsed, changing, request);
        },
      };
    },

    async complete({ operation: name, ...call }, claim, outward) {
      const found = all.get(name);
      const handler = found && outwardStepsOf(found.handler);
      if (!handler) {
        throw new Error(`${name} calls no third party`);
      }
      const { operation } = found;
      return completeCall({ operation, handler, outward, claim, record: undefined }, call);
    },
  };
}

/**
 * Plans are not planned, nor is what needs a file or a signed-in person. A write that sends something has to
 * declare whom it would reach, unless it reaches nobody.
 */
function isPlannable(name: string, { operation, handler }: BoundOperation): boolean {
  const { effect, credential, method, path, hints } = operation;
  if (credential !== "any" || path.startsWith("/v1/plans")) {
    return false;
  }
  const sends =
    hints.openWorld.is &&
    method === "POST" &&
    path.includes("{") &&
    !operationsWithoutRecipients.includes(name);
  return effect === "outward" || (effect === "write" && (stepsOf(handler) !== undefined || !sends));
}

function stepsOf(handler: BoundOperation["handler"]): PlanSteps<unknown, unknown> | undefined {
  return typeof handler !== "function" && "planned" in handler ? handler.planned : undefined;
}
