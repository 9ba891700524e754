/** The tools that a delegated operation may list and call: the catalogue's, by their tool names. */
import {
  allScopes,
  closeTexts,
  type Operation,
  permits,
  readArguments,
  toJsonSchema,
  toolMappingsOf,
  toolNames,
} from "../../../../tools/contract/index.ts";
import { fail } from "../../../../tools/errors.ts";
import { catalogue as declaredOperations } from "../../../../tools/index.ts";
import type { Caller } from "../actor.ts";
import type { DelegatedContext, World } from "../context.ts";
import { requireScope } from "./authorize.ts";

/** The texts may name any of these, also one that is not implemented. */
const declaredTools = toolNames(declaredOperations);

type Catalogue = Readonly<Record<string, Operation>>;

/** Few sets of scopes are in use; above this number the oldest list is dropped. */
const maxCachedLists = 64;

/** Lists the tools that a caller with these scopes may call. */
type ListTools = (scopes: Caller["scopes"]) => ReturnType<DelegatedContext["tools"]["list"]>;

/** Converting the schemas takes 50 ms of CPU, so it is done once; closing the texts takes 1 ms, once for each list. */
export function createToolLists(catalogue: Catalogue, hiddenBy: World["hiddenBy"]): ListTools {
  let tools: ReturnType<typeof describeInputs> | undefined;
  const lists = new Map<string, ReturnType<ListTools>>();
  return (scopes) => {
    const key = allScopes.filter((scope) => scopes.has(scope)).join();
    const cached = lists.get(key);
    if (cached) {
      return cached;
    }
    tools ??= describeInputs(catalogue).filter(({ name }) => hiddenBy(name) === undefined);
    const listed = closeTexts(
      tools.filter(({ scope }) => permits(scopes, scope)),
      declaredTools,
    ).map(({ name, description, inputSchema }) => ({
      name,
      description,
      input_schema: { required: [], ...inputSchema },
    }));
    if (lists.size >= maxCachedLists) {
      lists.delete(lists.keys().next().value ?? "");
    }
    lists.set(key, listed);
    return listed;
  };
}

interface DelegatedToolsOptions {
  readonly catalogue: Catalogue;
  readonly caller: Caller;
  readonly hiddenBy: World["hiddenBy"];
  readonly listTools: ListTools;
  /** Runs an operation by name and returns the body of its response. */
  runOperation(name: string, input: unknown): Promise<unknown>;
}

export function createDelegatedTools({
  catalogue,
  caller,
  hiddenBy,
  listTools,
  runOperation,
}: DelegatedToolsOptions): DelegatedContext["tools"] {
  return {
    list: () => listTools(caller.scopes),

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

/** As `describeTools`, without the schemas of the output. */
function describeInputs(catalogue: Catalogue) {
  return Object.entries(catalogue).flatMap(([operationName, operation]) =>
    Object.entries(toolMappingsOf(operationName, operation)).map(([name, { description, input }]) => ({
      ...{ name, description, scope: operation.scope },
      inputSchema: toJsonSchema(input, "tool"),
    })),
  );
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
