/** Which nodes follow a node, by what it resulted in. */
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
export interface Reply {
  readonly message_id: string;
  /** The text, the caption, or the title of the choice. */
  readonly text: string | null;
  /** The id of the button or row that was chosen. */
  readonly button: string | null;
}

/** What a node resulted in. */
export type Edge =
  | { readonly type: "done" }
  | { readonly type: "condition"; readonly isTrue: boolean }
  | { readonly type: "reply"; readonly reply: Reply; readonly matches: MatchPattern }
  | { readonly type: "timeout" }
  | { readonly type: "error" };

/**
 * The children to run, in their order: those whose edge matches, or else those of the default edge; and after a success those
 * that always run. Of keyword and button edges, only the first that matches counts.
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

/** The text of a reply as an answer: what was written, or the title of the button or row. */
export function answerOf(node: Pick<GraphNode, "action_config">, { button, text }: Reply): string {
  const title = choicesOf(node).find(({ id }) => id === button)?.title;
  return (text ?? title ?? "").trim();
}

/** The id of the choice: of the button, or of the one whose title was typed. */
export function chosen(node: Pick<GraphNode, "action_config">, { button, text }: Reply): string | null {
  const written = button === null && text !== null ? normalize(text) : undefined;
  return button ?? choicesOf(node).find(({ title }) => normalize(title) === written)?.id ?? null;
}
