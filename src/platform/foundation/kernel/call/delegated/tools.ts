/** Lists the tools that a delegated operation may call: the tools of the catalogue, by their names. */
import {
  allScopes,
  closeTexts,
  type Operation,
  permits,
  toJsonSchema,
  toolMappingsOf,
  toolNames,
} from "../../../../../../tools/contract/index.ts";
import { catalogue as declaredOperations } from "../../../../../../tools/index.ts";
import type { Caller } from "../../actor.ts";
import type { DelegatedContext, World } from "../../context.ts";

/** Texts may name any of these tools, even a tool that is not implemented. */
const declaredTools = toolNames(declaredOperations);

type Catalogue = Readonly<Record<string, Operation>>;

/** Few different sets of scopes are in use; above this number the oldest list is dropped. */
const maxCachedLists = 64;

/** Lists the tools that a caller with these scopes may call. */
type ListTools = (scopes: Caller["scopes"]) => ReturnType<DelegatedContext["tools"]["list"]>;

/**
 * Converting the schemas takes 50 ms of CPU, so it is done once. Closing the texts takes 1 ms for each list.
 */
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

/** Like `describeTools`, without output schemas. */
function describeInputs(catalogue: Catalogue) {
  return Object.entries(catalogue).flatMap(([operationName, operation]) =>
    Object.entries(toolMappingsOf(operationName, operation)).map(([name, { description, input }]) => ({
      name,
      description,
      scope: operation.scope,
      inputSchema: toJsonSchema(input, "tool"),
    })),
  );
}
