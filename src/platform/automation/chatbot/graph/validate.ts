/** The rules for a whole graph, as a table. All problems are reported together. */
import { listNames, type Problem, suggest } from "../../../foundation/problems.ts";
import type { ChatbotGraph, ChatbotNode } from "./graph.ts";
import { chatbotNodeTypes } from "./node-types.ts";
import { graphField, type ParsedGraph, problem, readParts } from "./read.ts";

/** Returns the graph in its normal form, or all its problems. */
export function readGraph(
  sent: Readonly<Record<string, unknown>>,
): { readonly graph: ChatbotGraph } | { readonly problems: readonly Problem[] } {
  const parts = readParts(sent);
  const { problems: ofParts, ids } = parts;
  const problems = [
    ...ofParts,
    // Without nodes, every reference would be reported as well.
    ...(ids.length === 0 ? [] : Object.values(rules).flatMap((rule) => rule(parts))),
  ];
  const entry_point = entryOf(parts);
  if (problems.length > 0 || entry_point === undefined) {
    return { problems };
  }
  const nodes = parts.nodes.map(({ node }) => node);
  return { graph: { entry_point, nodes, edges: parts.edges.map(({ edge }) => edge) } };
}

type Rule = (parts: ParsedGraph) => readonly Problem[];

const rules = {
  uniqueIds: ({ ids }) =>
    ids.flatMap((id, index) =>
      ids.indexOf(id) < index
        ? [
            problem(
              `${graphField}.nodes[${index}].id`,
              `There is another node ${id}.`,
              "Give each node an id of its own.",
            ),
          ]
        : [],
    ),

  knownEntry(parts) {
    const { entry_point, ids } = parts;
    if (entry_point !== undefined) {
      return ids.includes(entry_point) ? [] : [unknownNode(`${graphField}.entry_point`, entry_point, ids)];
    }
    const message =
      "It is not clear where the graph begins: not exactly one node is without an incoming edge.";
    const fix = `Send the id of the first node: ${listNames(ids)}.`;
    return entryOf(parts) === undefined ? [problem(`${graphField}.entry_point`, message, fix)] : [];
  },

  knownEnds: ({ edges, ids }) =>
    edges.flatMap(({ edge, field }) =>
      (["source", "target"] as const).flatMap((end) =>
        ids.includes(edge[end]) ? [] : [unknownNode(`${field}.${end}`, edge[end], ids)],
      ),
    ),

  endsLeadNowhere: ({ nodes, edges }) =>
    edges.flatMap(({ edge, field }) => {
      const source = nodes.find(({ node }) => node.id === edge.source)?.node;
      const message = `${edge.source} is of type ${source?.type}, after which nothing follows.`;
      return source && isEnd(source) ? [problem(`${field}.source`, message, "Leave out this edge.")] : [];
    }),

  oneDefault: ({ edges }) =>
    edges.flatMap(({ edge, field }, index) => {
      const earlier = edges
        .slice(0, index)
        .some((other) => other.edge.source === edge.source && !other.edge.condition);
      const message = `${edge.source} has another edge without a condition.`;
      return edge.condition === null && earlier
        ? [problem(`${field}.condition`, message, "Give one of them a condition, or leave it out.")]
        : [];
    }),

  completeConditions: ({ nodes, edges }) =>
    nodes.flatMap(({ node, field }) => {
      const own = edges.filter(({ edge }) => edge.source === node.id).map(({ edge }) => edge);
      const isComplete = own.some(({ condition }) => condition) && own.some(({ condition }) => !condition);
      const message = `The condition ${node.id} does not lead on in every case.`;
      return node.type === "condition" && !isComplete
        ? [problem(field, message, "Give it an edge with a condition, and one without.")]
        : [];
    }),

  canEnd(parts) {
    const ending = nodesThatEnd(parts);
    return parts.nodes.flatMap(({ node, field }) =>
      ending.has(node.id)
        ? []
        : [
            problem(
              field,
              `From ${node.id} there is no way to an end.`,
              "Leave out an edge of the circle, or add a way out of it.",
            ),
          ],
    );
  },
} satisfies Record<string, Rule>;

/** The node named as the entry point, or else the only node without an incoming edge. */
function entryOf({ entry_point, ids, edges }: ParsedGraph): string | undefined {
  const roots = ids.filter((id) => edges.every(({ edge }) => edge.target !== id));
  return entry_point ?? (roots.length === 1 ? roots[0] : undefined);
}

/**
 * The nodes from which an end can be reached. An end is a node of a type that ends, or a node without edges.
 */
function nodesThatEnd({ nodes, edges }: ParsedGraph): ReadonlySet<string> {
  const ending = new Set(
    nodes.flatMap(({ node }) =>
      isEnd(node) || edges.every(({ edge }) => edge.source !== node.id) ? [node.id] : [],
    ),
  );
  let size = -1;
  while (size !== ending.size) {
    size = ending.size;
    for (const { edge } of edges) {
      if (ending.has(edge.target)) {
        ending.add(edge.source);
      }
    }
  }
  return ending;
}

function isEnd({ type }: ChatbotNode): boolean {
  return chatbotNodeTypes[type].isEnd;
}

function unknownNode(field: string, id: string, ids: readonly string[]): Problem {
  const message = `There is no node ${id}.${suggest(id, ids)}`;
  return problem(field, message, `Send one of these: ${listNames(ids)}.`);
}
