/** Selects the nodes that follow a node, by the result of the node. */
import type { ConnectionType } from "../../../../../tools/flows/index.ts";
import {
  type ComparedText,
  matchesKeyword,
  normalize,
  readComparedText,
  readEdgeKeyword,
} from "../texts/keywords.ts";
import type { MatchPattern } from "../texts/patterns.ts";
import { choicesOf, type Graph, type GraphNode } from "./graph.ts";

/** A message of the contact. */
export interface ContactReply {
  readonly message_id: string;
  /** The text, the caption, or the title of the chosen button or row. */
  readonly text: string | null;
  /** The id of the chosen button or row. */
  readonly button: string | null;
}

/** The result of a node, which decides which edges are followed. */
export type Edge =
  | { readonly type: "done" }
  | { readonly type: "condition"; readonly isTrue: boolean }
  | { readonly type: "reply"; readonly reply: ContactReply; readonly matches: MatchPattern }
  | { readonly type: "timeout" }
  | { readonly type: "error" };

/**
 * The children to run, in their order: the children whose edge matches, or else the children on the default
 * edge. After a success, the children that always run are added. Of keyword and button edges, only the first
 * match counts.
 */
export function nextNodes(graph: Graph, node: GraphNode, edge: Edge): readonly string[] {
  const children = graph.childrenOf(node.id);
  const matching = new Set(specific[edge.type](children, edge, node));
  const isSuccess = edge.type !== "error" && edge.type !== "timeout";
  const others: readonly ConnectionType[] = isSuccess
    ? matching.size > 0
      ? ["always"]
      : ["always", "default"]
    : [];
  return children
    .filter((child) => matching.has(child) || others.includes(child.connection_type))
    .map(({ id }) => id);
}

type Select<Type extends Edge["type"]> = (
  children: readonly GraphNode[],
  edge: Extract<Edge, { readonly type: Type }>,
  node: GraphNode,
) => readonly GraphNode[];

const ofType =
  (type: ConnectionType) =>
  (children: readonly GraphNode[]): readonly GraphNode[] =>
    children.filter(({ connection_type }) => connection_type === type);

const selections: { readonly [Type in Edge["type"]]: Select<Type> } = {
  done: () => [],
  condition: (children, { isTrue }) => ofType(isTrue ? "condition_true" : "condition_false")(children),
  timeout: ofType("timeout"),
  error: ofType("error"),
  reply(children, edge, node) {
    const { text } = edge.reply;
    const compared = text === null ? null : readComparedText(text);
    const choice = chosen(node, edge.reply);
    const first = children.find((child) => matchesReply(child, { compared, choice, matches: edge.matches }));
    return first ? [first] : [];
  },
};

// The table has the function for this type of edge; TypeScript does not connect the two.
const specific = selections as Readonly<Record<Edge["type"], Select<Edge["type"]>>>;

interface ComparedReply {
  readonly compared: ComparedText | null;
  /** The id of the button or row. */
  readonly choice: string | null;
  readonly matches: MatchPattern;
}

function matchesReply(
  { connection_type, connection_value }: GraphNode,
  { compared, choice, matches }: ComparedReply,
): boolean {
  const value = connection_value ?? "";
  if (connection_type === "keyword") {
    return compared !== null && matchesKeyword(compared, readEdgeKeyword(value), matches);
  }
  return connection_type === "button" && choice === value;
}

/** The text of a reply as an answer: the written text, or the title of the button or row. */
export function answerOf(node: Pick<GraphNode, "action_config">, { button, text }: ContactReply): string {
  const title = choicesOf(node).find(({ id }) => id === button)?.title;
  return (text ?? title ?? "").trim();
}

/** The id of the chosen button, or of the choice whose title was typed. */
export function chosen(
  node: Pick<GraphNode, "action_config">,
  { button, text }: ContactReply,
): string | null {
  const written = button === null && text !== null ? normalize(text) : undefined;
  return button ?? choicesOf(node).find(({ title }) => normalize(title) === written)?.id ?? null;
}
