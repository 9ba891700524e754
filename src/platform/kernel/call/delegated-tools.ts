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
import type { Caller, DelegatedContext, World } from "../context.ts";
import { requireScope } from "./authorize.ts";

/** The texts may name any of these, also one that is not implemented. */
const declaredTools = toolNames(declaredOperations);

type Catalogue = Readonly<Record<string, Operation>>;

/** Describing every tool takes a tenth of a second, so it is done once. */
const describedTools = new WeakMap<Catalogue, readonly Tool[]>();

interface DelegatedToolsOptions {
  readonly catalogue: Catalogue;
  readonly caller: Caller;
  readonly hiddenBy: World["hiddenBy"];
  /** Runs an operation by name and returns the body of its response. */
  runOperation(name: string, input: unknown): Promise<unknown>;
}

export function createDelegatedTools({
  catalogue,
  caller,
  hiddenBy,
  runOperation,
}: DelegatedToolsOptions): DelegatedContext["tools"] {
  return {
    list: () =>
      closeTexts(
        describeOnce(catalogue).filter(
          ({ name, scope }) => permits(caller.scopes, scope) && hiddenBy(name) === undefined,
        ),
        declaredTools,
      ).map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema })),

    async call(toolName, toolArguments) {
      const { name, operation, mapping } = findTool(catalogue, toolName);
      const setting = hiddenBy(toolName);
      if (setting !== undefined) {
        throw fail("tool_hidden", { value: toolName, setting });
      }
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
