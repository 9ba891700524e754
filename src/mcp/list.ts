/** The tools that a credential may call: its scopes and the narrowing decide, the catalogue gives the order. */
import type { Tool as WireTool } from "@modelcontextprotocol/server";
import { allScopes, permits, type Scope } from "../../tools/contract/index.ts";
import type { Narrowing } from "./narrow.ts";
import { searchWires } from "./search.ts";
import type { ListedTool } from "./tools.ts";

/** Of the possible lists few are in use; past this many, the oldest is made again when needed. */
const keptLists = 64;

/** What decides over a list: undefined scopes are not known, and the service decides alone. */
export interface Viewer {
  readonly scopes: ReadonlySet<Scope> | undefined;
  readonly narrowing: Narrowing;
  /** The tools that the service was learned to have; unknown when left out. */
  readonly built?: ReadonlySet<string> | undefined;
}

export interface ToolList {
  /** As a client sees it: the tools, or the two that search and run them. */
  for(viewer: Viewer): WireTool[];
  /** The tools that may be called, listed or not. */
  reachable(viewer: Viewer): readonly ListedTool[];
  find(name: string): ListedTool | undefined;
}

interface View {
  readonly tools: readonly ListedTool[];
  readonly wires: WireTool[];
}

export interface ListOptions {
  /** The tools that the service behind has, by name; all when left out. */
  readonly built?: ReadonlySet<string> | undefined;
  /** Whether files of this machine may be named. */
  readonly isLocal?: boolean;
}

export function createToolList(
  tools: readonly ListedTool[],
  { built, isLocal = false }: ListOptions = {},
): ToolList {
  const offered = tools
    .filter(({ name }) => built?.has(name) ?? true)
    .map((tool) => (isLocal && tool.localWire ? { ...tool, wire: tool.localWire } : tool));
  const byName = new Map(offered.map((tool) => [tool.name, tool]));
  const views = new Map<string, View>();

  const make = ({ scopes, narrowing, built: learned }: Viewer): View => {
    const reachable = offered.filter(
      (tool) =>
        (!scopes || permits(scopes, tool.scope)) &&
        (learned?.has(tool.name) ?? true) &&
        narrowing.hiddenBy(tool) === undefined,
    );
    const wires = narrowing.isSearch ? searchWires(narrowing.isReadOnly) : reachable.map(({ wire }) => wire);
    return { tools: reachable, wires };
  };
  const view = (viewer: Viewer): View => {
    const { scopes, narrowing, built: learned } = viewer;
    const held = scopes === undefined ? "all" : allScopes.filter((scope) => scopes.has(scope)).join();
    const name = `${held} ${narrowing.name} ${learned ? [...learned].join() : ""}`;
    const known = views.get(name);
    if (known) {
      return known;
    }
    const made = make(viewer);
    if (views.size >= keptLists) {
      views.delete(views.keys().next().value ?? "");
    }
    views.set(name, made);
    return made;
  };
  return {
    for: (viewer) => view(viewer).wires,
    reachable: (viewer) => view(viewer).tools,
    find: (name) => byName.get(name),
  };
}
