/** Adds to a response the tools that the settings of this transport hide. */
import { groupHiddenTools } from "../../../tools/contract/index.ts";
import type { ListedTool, ToolFilter } from "../tool-list/index.ts";

/** The service knows the scopes and its own settings; the tools that it lists as hidden are not repeated. */
export function addHiddenTools(
  response: object,
  hides: string,
  { tools, filter }: { readonly tools: readonly ListedTool[]; readonly filter: ToolFilter },
): object {
  const { data } = response as { readonly data?: Readonly<Record<string, unknown>> | null };
  const hidden = data?.[hides];
  if (!Array.isArray(hidden)) {
    // Another implementation of the service may leave the list out.
    return response;
  }
  const known = new Set(hidden.flatMap((group: { tools?: unknown } | null) => group?.tools ?? []));
  const places = tools
    .filter(({ name }) => !known.has(name))
    .map((tool) => ({ name: tool.name, group: tool.toolset, scope: null, setting: filter.hiddenBy(tool) }));
  return { ...response, data: { ...data, [hides]: [...hidden, ...groupHiddenTools(places, new Set())] } };
}
