/** The types of node that a chatbot's graph can have, and what each of them takes. */
import { z } from "zod";

const text = z.string().trim().min(1).max(4096);

/** What an answer of a language model may take, in its tokens. */
export const defaultMaxTokens = 800;

/** The passages that a search takes at most. */
export const maxTopK = 20;

export const chatbotNodeTypes = {
  /** Answers from the passages of a retrieve node before it, or else from its own search. */
  llm: {
    config: z.strictObject({
      /** For the language model, for example the tone; without a model they have no effect. */
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
  /** Only leads on: its edges have the conditions. */
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

/** What else a type may be called. */
export const typeAliases: Readonly<Record<string, keyof typeof chatbotNodeTypes>> = { router: "condition" };
