/** The types of node that a chatbot's graph can have, and the config of each type. */
import { z } from "zod";

const text = z.string().trim().min(1).max(4096);

/** The most tokens of the language model for an answer. */
export const defaultMaxTokens = 800;

/** The most passages of a search. */
export const maxTopK = 20;

export const chatbotNodeTypes = {
  /** Answers from the passages of a retrieve node before it, or else from its own search. */
  llm: {
    config: z.strictObject({
      /** Instructions for the language model, for example the tone. Without a model they have no effect. */
      instructions: z.string().trim().max(2000).optional(),
      max_tokens: z.int().min(16).max(4096).default(defaultMaxTokens),
    }),
    isEnd: false,
  },
  retrieve: {
    config: z.strictObject({
      top_k: z.int().min(1).max(maxTopK).default(5),
      min_score: z.number().min(0).max(1).default(0),
    }),
    isEnd: false,
  },
  /** Only leads to other nodes: the conditions are on its edges. */
  condition: { config: z.strictObject({}), isEnd: false },
  message: { config: z.strictObject({ text }), isEnd: false },
  handoff: {
    config: z.strictObject({
      text: text.optional(),
      /** By default, routing chooses. */
      team_id: z.string().min(1).max(64).optional(),
    }),
    isEnd: true,
  },
  end: { config: z.strictObject({}), isEnd: true },
} as const;

/** Other names for types. */
export const typeAliases: Readonly<Record<string, keyof typeof chatbotNodeTypes>> = { router: "condition" };
