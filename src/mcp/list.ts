/** The list of tools that a credential may call: the scopes decide, the catalogue gives the order. */
import type { Tool as WireTool } from "@modelcontextprotocol/server";
import { allScopes, permits, type Scope } from "../../tools/scopes.ts";
import type { ListedTool } from "./tools.ts";

/** Of the possible sets of scopes few are in use; past this many, the oldest is made again when needed. */
const keptLists = 64;

export interface ToolList {
  /** The tools for these scopes, as a client sees them; all when the scopes are not known. */
  for(scopes: ReadonlySet<Scope> | undefined): WireTool[];
  find(name: string): ListedTool | undefined;
}

/** @param built the tools that the service behind has, by name; all when left out. */
export function createToolList(tools: readonly ListedTool[], built?: ReadonlySet<string>): ToolList {
  const offered = tools.filter(({ name }) => built?.has(name) ?? true);
  const byName = new Map(offered.map((tool) => [tool.name, tool]));
  const lists = new Map<string, WireTool[]>();
  return {
    find: (name) => byName.get(name),
    for(scopes) {
      const name = scopes === undefined ? "all" : allScopes.filter((scope) => scopes.has(scope)).join();
      const known = lists.get(name);
      if (known) {
        return known;
      }
      const list = offered.filter(({ scope }) => !scopes || permits(scopes, scope)).map(({ wire }) => wire);
      if (lists.size >= keptLists) {
        lists.delete(lists.keys().next().value ?? "");
      }
      lists.set(name, list);
      return list;
    },
  };
}
