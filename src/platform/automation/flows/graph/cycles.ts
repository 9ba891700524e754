/**
 * Finds cycles that send without waiting: a run would send up to its limit of steps at once.
 *
 * `successorsOf` returns the nodes that may run next after a node. The search looks for a node that can be
 * reached from itself, and ends at nodes that wait.
 */
import { nodes as declarations } from "../../../../../tools/flows/index.ts";
import { awaitsButton, type Graph, type GraphNode } from "./graph.ts";

/** The first sending node of each cycle. */
export function findSendingCycles(graph: Graph): readonly GraphNode[] {
  const found: GraphNode[] = [];
  const covered = new Set<GraphNode>();
  for (const node of graph.nodes) {
    if (declarations[node.node_type].sends && !waits(graph, node) && !covered.has(node)) {
      const reached = reachableFrom(graph, node);
      if (reached.has(node)) {
        found.push(node);
        reached.forEach((one) => {
          covered.add(one);
        });
      }
    }
  }
  return found;
}

/** The nodes that may run after this node without a wait in between. */
function reachableFrom(graph: Graph, start: GraphNode): ReadonlySet<GraphNode> {
  const reached = new Set<GraphNode>();
  const open = [...successorsOf(graph, start)];
  for (let node = open.pop(); node; node = open.pop()) {
    if (!reached.has(node) && !waits(graph, node)) {
      reached.add(node);
      open.push(...successorsOf(graph, node));
    }
  }
  return reached;
}

/** Whether a run always waits in the node. A wait until a date or an opening time may end at once. */
function waits(graph: Graph, { id, node_type, action_config: { duration, until } }: GraphNode): boolean {
  const isTimeOfDay = typeof until === "string" && until.length === "09:00".length;
  return (
    node_type === "ask" ||
    node_type === "wait_for_reply" ||
    (node_type === "wait" && (duration !== undefined || isTimeOfDay)) ||
    (node_type === "send_message" && awaitsButton(graph, id))
  );
}

function successorsOf(graph: Graph, node: GraphNode): readonly GraphNode[] {
  if (node.node_type === "goto") {
    const target = graph.byId.get(String(node.action_config.node_id));
    return target ? [target] : [];
  }
  if (node.node_type === "end" || node.node_type === "chatbot") {
    return graph.childrenOf(node.id);
  }
  const children = graph.childrenOf(node.id);
  const types = new Set(children.map(({ connection_type }) => connection_type));
  const isCertain =
    types.has("always") ||
    types.has("default") ||
    (types.has("condition_true") && types.has("condition_false"));
  return isCertain ? children : [...children, ...nextSiblings(graph, node)];
}

/**
 * The nodes that may run when a node and everything below it is done: its next sibling, or the next sibling
 * of an ancestor.
 */
function nextSiblings(graph: Graph, node: GraphNode): readonly GraphNode[] {
  const following: GraphNode[] = [];
  let current: GraphNode | undefined = node;
  const passed = new Set<GraphNode>();
  while (current && current.parent_node_id !== null && !passed.has(current)) {
    const { parent_node_id, connection_type }: GraphNode = current;
    passed.add(current);
    const siblings = graph.childrenOf(parent_node_id);
    const later = siblings.slice(siblings.indexOf(current) + 1);
    for (const sibling of later.filter((one) => runBoth(connection_type, one.connection_type))) {
      following.push(sibling);
      if (sibling.connection_type === "always" || sibling.connection_type === connection_type) {
        return following;
      }
    }
    current = graph.byId.get(parent_node_id);
  }
  return following;
}

/** Whether children with these connections can both run after one result of their parent. */
function runBoth(one: GraphNode["connection_type"], other: GraphNode["connection_type"]): boolean {
  const isSingle = one === "keyword" || one === "button";
  const isFailure = [one, other].some((type) => type === "error" || type === "timeout");
  return one === other ? !isSingle : !isFailure && [one, other].includes("always");
}
