/** The graph of a chatbot in its normal form: as it is stored, shown and run. */
import type { z } from "zod";
import type { TurnCondition } from "./conditions.ts";
import type { chatbotNodeTypes } from "./node-types.ts";

export type ChatbotNodeType = keyof typeof chatbotNodeTypes;

/** The parsed config of a type of node. */
export type ChatbotNodeConfig<Type extends ChatbotNodeType> = z.output<
  (typeof chatbotNodeTypes)[Type]["config"]
>;

type NodeOf<Type extends ChatbotNodeType> = {
  readonly id: string;
  readonly type: Type;
  /** Shown as `agent_used` in place of the id. */
  readonly name?: string;
  readonly config: ChatbotNodeConfig<Type>;
};

export type ChatbotNode = { readonly [Type in ChatbotNodeType]: NodeOf<Type> }[ChatbotNodeType];

export interface ChatbotEdge {
  readonly source: string;
  readonly target: string;
  /** Null: the edge is followed if no other edge of its source is. */
  readonly condition: TurnCondition | null;
}

export interface ChatbotGraph {
  readonly entry_point: string;
  readonly nodes: readonly ChatbotNode[];
  readonly edges: readonly ChatbotEdge[];
}
