/** Lists the tools that a credential may call, by its scopes and the filter, in the catalogue's order. */
import type { Tool as WireTool } from "@modelcontextprotocol/server";
import { allScopes, closeTexts, permits, type Scope } from "../../../tools/contract/index.ts";
import type { ListedTool } from "./definitions.ts";
import type { ToolFilter } from "./filter.ts";
import { searchToolDefinitions } from "./search.ts";

/** Few of the possible lists are in use. Past this many, the oldest is dropped and made again when needed. */
const maxCachedLists = 64;

/** What determines a list. Undefined scopes are unknown: every tool is listed and the service decides. */
export interface ToolVisibility {
  readonly scopes: ReadonlySet<Scope> | undefined;
  readonly filter: ToolFilter;
  /** The tools that the service reported; unknown when left out. */
  readonly availableTools?: ReadonlySet<string> | undefined;
}

export interface ToolList {
  /** What a client receives: the tools, or in search mode the two that find and run them. */
  list(viewer: ToolVisibility): WireTool[];
  /** The tools that may be called, listed or not. */
  callable(viewer: ToolVisibility): readonly ListedTool[];
  find(name: string): ListedTool | undefined;
}

interface CachedList {
  readonly tools: readonly ListedTool[];
  readonly definitions: WireTool[];
}

export interface ListOptions {
  /** The names of the tools that the service has; all by default. */
  readonly availableTools?: ReadonlySet<string> | undefined;
  /** Whether arguments may name files on this machine. */
  readonly isLocal?: boolean;
}

export function createToolList(
  tools: readonly ListedTool[],
  { availableTools, isLocal = false }: ListOptions = {},
): ToolList {
  const available = tools
    .filter(({ name }) => availableTools?.has(name) ?? true)
    .map((tool) => (isLocal && tool.localDefinition ? { ...tool, definition: tool.localDefinition } : tool));
  const known = tools.map(({ name }) => name);
  const byName = new Map(available.map((tool) => [tool.name, tool]));
  const views = new Map<string, CachedList>();

  const make = ({ scopes, filter, availableTools: discovered }: ToolVisibility): CachedList => {
    const reachable = available.filter(
      (tool) =>
        (!scopes || permits(scopes, tool.scope)) &&
        (discovered?.has(tool.name) ?? true) &&
        filter.hiddenBy(tool) === undefined,
    );
    const closed = closeTexts(
      reachable.map(({ definition }) => definition),
      known,
    );
    const definitions = filter.isSearch ? searchToolDefinitions(filter.isReadOnly) : closed;
    const described = reachable.map((tool, index) => ({
      ...tool,
      definition: closed[index] ?? tool.definition,
    }));
    return { tools: described, definitions };
  };
  const view = (viewer: ToolVisibility): CachedList => {
    const { scopes, filter, availableTools: discovered } = viewer;
    const scopeKey = scopes === undefined ? "all" : allScopes.filter((scope) => scopes.has(scope)).join();
    const name = `${scopeKey} ${filter.cacheKey} ${discovered ? [...discovered].join() : ""}`;
    const known = views.get(name);
    if (known) {
      return known;
    }
    const made = make(viewer);
    if (views.size >= maxCachedLists) {
      views.delete(views.keys().next().value ?? "");
    }
    views.set(name, made);
    return made;
  };
  return {
    list: (viewer) => view(viewer).definitions,
    callable: (viewer) => view(viewer).tools,
    find: (name) => byName.get(name),
  };
}
export { discoverAccess, type KeyAccess } from "./access.ts";
export { type ListedTool, tools } from "./definitions.ts";
export {
  createToolFilter,
  defaultToolFilterSettings,
  isRead,
  restrictByHeaders,
  type ToolFilter,
  ToolFilterError,
  type ToolFilterSettings,
} from "./filter.ts";
export {
  executeToolName,
  readExecuteArguments,
  SearchInputError,
  searchTools,
  searchToolsName,
} from "./search.ts";
