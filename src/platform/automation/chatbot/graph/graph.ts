/** The graph of a chatbot in its normal form: as it is stored, shown and run. */
import type { z } from "zod";
import type { Condition } from "./conditions.ts";
import type { nodeTypes } from "./node-types.ts";

export type NodeType = keyof typeof nodeTypes;

/** The parsed config of a type of node. */
export type NodeConfig<Type extends NodeType> = z.output<(typeof nodeTypes)[Type]["config"]>;

type NodeOf<Type extends NodeType> = {
  readonly id: string;
  readonly type: Type;
  /** Shown as `agent_used` in place of the id. */
  readonly name?: string;
  readonly config: NodeConfig<Type>;
};

export type ChatbotNode = { readonly [Type in NodeType]: NodeOf<Type> }[NodeType];

export interface ChatbotEdge {
  readonly source: string;
  readonly target: string;
  /** Null: the edge is followed if no other edge of its source is. */
  readonly condition: Condition | null;
}

export interface ChatbotGraph {
  readonly entry_point: string;
  readonly nodes: readonly ChatbotNode[];
  readonly edges: readonly ChatbotEdge[];
}
