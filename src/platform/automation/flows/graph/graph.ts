/** The graph of a flow: its nodes by id, and the children of each in their order. */
import type { ConnectionType, NodeType } from "../../../../../tools/flows/index.ts";
import type { FlowNode } from "../../../../database/schema/index.ts";

export interface GraphNode extends FlowNode {
  readonly node_type: NodeType;
  readonly connection_type: ConnectionType;
  /** The node's place in `nodes`. */
  readonly index: number;
}

export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly byId: ReadonlyMap<string, GraphNode>;
  readonly root: GraphNode | undefined;
  /** If several nodes have this id, they share their children. */
  childrenOf(id: string): readonly GraphNode[];
}

export function toGraph(stored: readonly FlowNode[]): Graph {
  // The contract validated the nodes when they were saved; a type is never removed.
  const nodes = stored.map((one, index) => ({ ...one, index }) as GraphNode);
  const sorted = [...nodes].sort(
    (one, other) => one.sort_order - other.sort_order || one.index - other.index,
  );
  const children = new Map<string, GraphNode[]>();
  for (const node of sorted) {
    if (node.parent_node_id !== null) {
      children.set(node.parent_node_id, [...(children.get(node.parent_node_id) ?? []), node]);
    }
  }
  return {
    nodes,
    byId: new Map(nodes.map((node) => [node.id, node])),
    root: nodes.find(({ parent_node_id }) => parent_node_id === null),
    childrenOf: (id) => children.get(id) ?? [],
  };
}

/** Whether a message with buttons waits for the reply, because it has button edges. */
export function awaitsButton(graph: Graph, id: string): boolean {
  return graph.childrenOf(id).some(({ connection_type }) => connection_type === "button");
}

/**
 * Whether a run of the graph may wait for a reply. Then no other such run may be active in the conversation.
 */
export function isInteractive(graph: Graph): boolean {
  return graph.nodes.some(
    ({ id, node_type }) =>
      node_type === "ask" ||
      node_type === "wait_for_reply" ||
      (node_type === "send_message" && awaitsButton(graph, id)),
  );
}

/** The choices of an interactive message in a node's action_config. */
export function choicesOf({ action_config }: Pick<FlowNode, "action_config">): readonly Choice[] {
  const { interactive } = action_config as { interactive?: Choices };
  return interactive?.buttons ?? interactive?.list?.sections?.flatMap(({ rows = [] }) => rows) ?? [];
}

export interface Choice {
  readonly id: string;
  readonly title: string;
}

/** The part of an interactive message that holds its choices. */
interface Choices {
  readonly buttons?: readonly Choice[];
  readonly list?: { readonly sections?: readonly { readonly rows?: readonly Choice[] }[] };
}
