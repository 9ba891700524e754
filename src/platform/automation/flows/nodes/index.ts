/**
 * The behaviour of each type of node.
 *
 * A type is declared in `tools/flows/nodes/`. Its handler is here, in a file for each group. A handler that
 * needs a new effect adds it to `Actions` (`node.ts`); `run/actions.ts` and the rehearsal implement
 * `Actions`.
 */
import { type NodeType, nodes } from "../../../../../tools/flows/index.ts";
import { answerOf, type ContactReply, type Graph, type GraphNode } from "../graph/index.ts";
import { keywordTests, readEdgeKeyword } from "../texts/keywords.ts";
import type { PatternTest } from "../texts/patterns.ts";
import { answerTest } from "./answers.ts";
import { changeHandlers } from "./changes.ts";
import { controlHandlers } from "./control.ts";
import { httpHandlers } from "./http.ts";
import { messageHandlers } from "./messages.ts";
import type { NodeContext, NodeHandler, NodeHandlers, NodeOutcome, WaitEnd } from "./node.ts";

export { targetsOf } from "./changes.ts";
export { flowAttributes } from "./control.ts";
export type {
  Actions,
  AssignTarget,
  NodeContext,
  NodeOutcome,
  OutgoingMessage,
  Reference,
  WaitEnd,
} from "./node.ts";

const handlers: NodeHandlers = { ...messageHandlers, ...controlHandlers, ...changeHandlers, ...httpHandlers };

/** A handler that takes the parsed action_config of its own type. */
export function handlerOf(type: NodeType): NodeHandler<unknown> {
  // The table has the handler for this type; TypeScript does not connect the handler with the type of its
  // action_config.
  return handlers[type] as NodeHandler<unknown>;
}

interface ReplyTest extends PatternTest {
  /** The node that has the expression. */
  readonly node_id: string;
}

/**
 * The regular expressions that a reply is matched with: the expression of the node, and the expressions of
 * the edges below it.
 */
export function replyTests(graph: Graph, node: GraphNode, reply: ContactReply): readonly ReplyTest[] {
  const config: unknown = nodes[node.node_type].config.parse(node.action_config);
  const own = handlerOf(node.node_type).patterns?.(config) ?? [];
  return [
    ...own.map(({ pattern }) => ({ ...answerTest(answerOf(node, reply), pattern), node_id: node.id })),
    ...graph.childrenOf(node.id).flatMap(({ id, connection_type, connection_value }) => {
      const text = connection_type === "keyword" ? reply.text : null;
      const tests = text === null ? [] : keywordTests(text, readEdgeKeyword(connection_value ?? ""));
      return tests.map((test) => ({ ...test, node_id: id }));
    }),
  ];
}

/** Whether the node may run in a transaction with nodes of other runs. */
export function sharesTransaction({ node_type, action_config }: GraphNode): boolean {
  const config: unknown = nodes[node_type].config.parse(action_config);
  return handlerOf(node_type).sharesTransaction?.(config) ?? false;
}

/** Runs a node, or continues it after a wait. The action_config was validated when it was saved. */
export async function runNode(
  node: GraphNode,
  context: NodeContext,
  end: WaitEnd | null,
): Promise<NodeOutcome> {
  const handler = handlerOf(node.node_type);
  const config: unknown = nodes[node.node_type].config.parse(node.action_config);
  if (end?.type === "response") {
    return handler.receive ? handler.receive(config, end.result) : handler.enter(config, context);
  }
  return end === null || !handler.resume
    ? handler.enter(config, context)
    : handler.resume(config, context, end);
}
