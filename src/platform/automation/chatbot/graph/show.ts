/**
 * The normal form of a graph as the API shows it, without default and empty values, as most callers send it.
 */
import type { ChatbotGraph } from "./graph.ts";
import { chatbotNodeTypes } from "./node-types.ts";

export function showGraph({ entry_point, nodes, edges }: ChatbotGraph): Record<string, unknown> {
  return {
    entry_point,
    nodes: nodes.map(({ config, ...node }) => {
      const byDefault: Readonly<Record<string, unknown>> =
        chatbotNodeTypes[node.type].config.safeParse({}).data ?? {};
      const set = Object.entries(config).filter(([name, value]) => byDefault[name] !== value);
      return set.length === 0 ? node : { ...node, config: Object.fromEntries(set) };
    }),
    edges: edges.map(({ condition, ...edge }) => (condition === null ? edge : { ...edge, condition })),
  };
}
