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
import { type AllowedOperations, permitsOperation } from "../../../../../../tools/rule-operations.ts";
import type { Caller } from "../../actor.ts";
import type { DelegatedContext, World } from "../../context.ts";

/** Texts may name any of these tools, even a tool that is not implemented. */
const declaredTools = toolNames(declaredOperations);

type Catalogue = Readonly<Record<string, Operation>>;

/** Few sets of scopes and of allowed operations are in use; above this number the oldest list is dropped. */
const maxCachedLists = 64;

/** Lists the tools that a caller may call with these scopes, under rules that allow these operations. */
type ListTools = (
  scopes: Caller["scopes"],
  allowed?: AllowedOperations,
) => ReturnType<DelegatedContext["tools"]["list"]>;

/**
 * Converting the schemas takes 50 ms of CPU, so it is done once. Closing the texts takes 1 ms for each list.
 */
export function createToolLists(catalogue: Catalogue, hiddenBy: World["hiddenBy"]): ListTools {
  let tools: ReturnType<typeof describeInputs> | undefined;
  const lists = new Map<string, ReturnType<ListTools>>();
  return (scopes, allowed = null) => {
    const key = JSON.stringify([allScopes.filter((scope) => scopes.has(scope)), allowed]);
    const cached = lists.get(key);
    if (cached) {
      return cached;
    }
    tools ??= describeInputs(catalogue).filter(({ name }) => hiddenBy(name) === undefined);
    const listed = closeTexts(
      tools.filter(({ scope, operation }) => permits(scopes, scope) && permitsOperation(allowed, operation)),
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
      operation: operationName,
      scope: operation.scope,
      inputSchema: toJsonSchema(input, "tool"),
    })),
  );
}
