/** The list of tools that a credential may call, by its scopes and the filter, in the catalogue's order. */
import type { Tool as WireTool } from "@modelcontextprotocol/server";
import { allScopes, closeTexts, permits, type Scope } from "../../../tools/contract/index.ts";
import { type AllowedOperations, permitsOperation } from "../../../tools/rule-operations.ts";
import type { ListedTool } from "./definitions.ts";
import type { ToolFilter } from "./filter.ts";
import { gatewayDefinitions } from "./gateways.ts";

/** Few of the possible lists are in use; above this number the oldest is dropped. */
const maxCachedLists = 64;

export interface ToolVisibility {
  /** Undefined if unknown: then only the service checks them. */
  readonly scopes: ReadonlySet<Scope> | undefined;
  /** The operations that rules allow; undefined if unknown. */
  readonly allowed?: AllowedOperations | undefined;
  readonly filter: ToolFilter;
  /** The tools that the service has, by name; undefined if unknown. */
  readonly availableTools?: ReadonlySet<string> | undefined;
}

export interface ToolList {
  /** The definitions for a client: the gateways, if they are needed, and the tools that the mode lists. */
  list(viewer: ToolVisibility): WireTool[];
  /** The tools that may be called, also those that the mode leaves out. */
  callable(viewer: ToolVisibility): readonly ListedTool[];
  /** The tools that may be called and that the mode leaves out. */
  unlisted(viewer: ToolVisibility): readonly ListedTool[];
  /** Whether this names a tool that may not be called. */
  isHidden(name: string, viewer: ToolVisibility): boolean;
  find(name: string): ListedTool | undefined;
  /** Every tool that the service is known to have. */
  readonly all: readonly ListedTool[];
}

interface CachedList {
  readonly callable: ReadonlyMap<string, ListedTool>;
  readonly unlisted: readonly ListedTool[];
  readonly definitions: WireTool[];
}

export interface ListOptions {
  /** The tools that the service has, by name; by default all. */
  readonly availableTools?: ReadonlySet<string> | undefined;
  /** Whether calls may name local files. */
  readonly isLocal?: boolean;
}

export function createToolList(
  tools: readonly ListedTool[],
  { availableTools, isLocal = false }: ListOptions = {},
): ToolList {
  const available = tools
    .filter(({ name }) => availableTools?.has(name) ?? true)
    .map((tool) => (isLocal && tool.localDefinition ? { ...tool, definition: tool.localDefinition } : tool));
  const known = new Set(tools.map(({ name }) => name));
  const byName = new Map(available.map((tool) => [tool.name, tool]));
  const views = new Map<string, CachedList>();

  const build = ({
    scopes,
    allowed = null,
    filter,
    availableTools: discovered,
  }: ToolVisibility): CachedList => {
    const reachable = available.filter(
      (tool) =>
        (!scopes || permits(scopes, tool.scope)) &&
        permitsOperation(allowed, tool.operation) &&
        (discovered?.has(tool.name) ?? true) &&
        filter.hiddenBy(tool) === undefined,
    );
    const closed = closeTexts(
      reachable.map(({ definition }) => definition),
      known,
    );
    const described = reachable.map((tool, index) => ({
      ...tool,
      definition: closed[index] ?? tool.definition,
    }));
    const unlisted = described.filter((tool) => !filter.lists(tool));
    const listed = described.filter(filter.lists).map(({ definition }) => definition);
    return {
      callable: new Map(described.map((tool) => [tool.name, tool])),
      unlisted,
      // First, because some hosts cut off the end of a long list.
      definitions: [...gatewayDefinitions(unlisted), ...listed],
    };
  };
  const view = (viewer: ToolVisibility): CachedList => {
    const { scopes, allowed = null, filter, availableTools: discovered } = viewer;
    const scopeKey = scopes === undefined ? "all" : allScopes.filter((scope) => scopes.has(scope)).join();
    const key = [scopeKey, filter.cacheKey, discovered && [...discovered], allowed && ["rules", ...allowed]]
      .map(String)
      .join(" ");
    const cached = views.get(key);
    if (cached) {
      return cached;
    }
    const list = build(viewer);
    if (views.size >= maxCachedLists) {
      views.delete(views.keys().next().value ?? "");
    }
    views.set(key, list);
    return list;
  };
  return {
    list: (viewer) => view(viewer).definitions,
    callable: (viewer) => [...view(viewer).callable.values()],
    unlisted: (viewer) => view(viewer).unlisted,
    isHidden: (name, viewer) => known.has(name) && !view(viewer).callable.has(name),
    find: (name) => byName.get(name),
    all: available,
  };
}
export { discoverAccess, type KeyAccess } from "./access.ts";
export { type ListedTool, rejectedCallRoute, tools } from "./definitions.ts";
export {
  createHidingLookup,
  createToolFilter,
  createToolFilters,
  defaultToolFilterSettings,
  isRead,
  restrictByHeaders,
  type ToolFilter,
  ToolFilterError,
  type ToolFilterSettings,
} from "./filter.ts";
export {
  GatewayInputError,
  gatewayNames,
  gatewayOf,
  isGatewayName,
  readRunArguments,
  readSearchArguments,
  runReadToolName,
  searchToolsName,
} from "./gateways.ts";
export { searchTools } from "./search.ts";
