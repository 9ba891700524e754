/** The tools that a credential may call: its scopes and the narrowing decide, the catalogue gives the order. */
import type { Tool as WireTool } from "@modelcontextprotocol/server";
import { allScopes, permits, type Scope } from "../../../tools/contract/index.ts";
import type { ListedTool } from "./definitions.ts";
import type { ToolFilter } from "./filter.ts";
import { searchToolDefinitions } from "./search.ts";

/** Of the possible lists few are in use; past this many, the oldest is made again when needed. */
const maxCachedLists = 64;

/** What decides over a list: undefined scopes are not known, and the service decides alone. */
export interface ToolVisibility {
  readonly scopes: ReadonlySet<Scope> | undefined;
  readonly filter: ToolFilter;
  /** The tools that the service was learned to have; unknown when left out. */
  readonly availableTools?: ReadonlySet<string> | undefined;
}

export interface ToolList {
  /** As a client sees it: the tools, or the two that search and run them. */
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
  /** The tools that the service behind has, by name; all when left out. */
  readonly availableTools?: ReadonlySet<string> | undefined;
  /** Whether files of this machine may be named. */
  readonly isLocal?: boolean;
}

export function createToolList(
  tools: readonly ListedTool[],
  { availableTools, isLocal = false }: ListOptions = {},
): ToolList {
  const available = tools
    .filter(({ name }) => availableTools?.has(name) ?? true)
    .map((tool) => (isLocal && tool.localDefinition ? { ...tool, definition: tool.localDefinition } : tool));
  const byName = new Map(available.map((tool) => [tool.name, tool]));
  const views = new Map<string, CachedList>();

  const make = ({ scopes, filter, availableTools: discovered }: ToolVisibility): CachedList => {
    const reachable = available.filter(
      (tool) =>
        (!scopes || permits(scopes, tool.scope)) &&
        (discovered?.has(tool.name) ?? true) &&
        filter.hiddenBy(tool) === undefined,
    );
    const definitions = filter.isSearch
      ? searchToolDefinitions(filter.isReadOnly)
      : reachable.map(({ definition }) => definition);
    return { tools: reachable, definitions };
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
} from "./filter.ts";
export {
  executeToolName,
  readExecuteArguments,
  SearchInputError,
  searchTools,
  searchToolsName,
} from "./search.ts";
