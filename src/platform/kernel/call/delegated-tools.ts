/** The tools that a delegated operation may list and call: the catalogue's, by their tool names. */
import {
  closeTexts,
  describeTools,
  type Operation,
  permits,
  readArguments,
  type Tool,
  toolMappingsOf,
  toolNames,
} from "../../../../tools/contract/index.ts";
import { fail } from "../../../../tools/errors.ts";
import { catalogue as declaredOperations } from "../../../../tools/index.ts";
import type { Caller, DelegatedContext } from "../context.ts";
import { requireScope } from "./authorize.ts";

/** The texts may name any of these, also one that is not implemented. */
const declaredTools = toolNames(declaredOperations);

type Catalogue = Readonly<Record<string, Operation>>;

/** Describing every tool takes a tenth of a second, so it is done once. */
const describedTools = new WeakMap<Catalogue, readonly Tool[]>();

/** `runOperation` runs an operation by name and returns the body of its response. */
export function createDelegatedTools(
  catalogue: Catalogue,
  caller: Caller,
  runOperation: (name: string, input: unknown) => Promise<unknown>,
): DelegatedContext["tools"] {
  return {
    list: () =>
      closeTexts(
        describeOnce(catalogue).filter((tool) => permits(caller.scopes, tool.scope)),
        declaredTools,
      ).map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema })),

    async call(toolName, toolArguments) {
      const { name, operation, mapping } = findTool(catalogue, toolName);
      // Before the arguments are read, so that a missing scope is reported first, as on every route.
      requireScope(caller, operation.scope);
      const body = await runOperation(name, readArguments(mapping, toolArguments));
      // Every operation's output schema is an object.
      return body as Record<string, unknown>;
    },
  };
}

function describeOnce(catalogue: Catalogue): readonly Tool[] {
  const tools = describedTools.get(catalogue) ?? describeTools(catalogue);
  describedTools.set(catalogue, tools);
  return tools;
}

function findTool(catalogue: Catalogue, toolName: string) {
  for (const [name, operation] of Object.entries(catalogue)) {
    const mappings = toolMappingsOf(name, operation);
    const mapping = Object.hasOwn(mappings, toolName) ? mappings[toolName] : undefined;
    if (mapping) {
      return { name, operation, mapping };
    }
  }
  throw fail("tool_not_found", { value: toolName });
}
