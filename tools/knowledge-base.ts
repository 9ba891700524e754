/** The knowledge base: documents and QA pairs for the chatbot. */
import { z } from "zod";
import { one, operation, timestamp } from "./contract/index.ts";

export const sourceTypes = ["pdf", "markdown", "url"] as const;
export const retrievalTypes = ["qa_pair", "chunk"] as const;

const Document = z.object({
  id: z.string(),
  name: z.string(),
  source_type: z.enum(sourceTypes),
  source_url: z.string().nullable(),
  status: z.string(),
  created_at: timestamp,
});

const NewDocument = z
  .object({
    name: z.string().min(1).max(255).describe("Name"),
    source_type: z.enum(sourceTypes).describe("Type of the source"),
    source_url: z
      .url({ protocol: /^https?$/ })
      .max(2048)
      .optional()
      .describe("Public address; required for pdf and url"),
  })
  .superRefine(({ source_type, source_url }, context) => {
    if (source_type !== "markdown" && source_url === undefined) {
      const message = `A document of type ${source_type} needs source_url.`;
      context.addIssue({ code: "custom", path: ["source_url"], message });
    }
  });

const QaPair = z.object({
  id: z.string(),
  question: z.string(),
  answer: z.string(),
  tags: z.array(z.string()),
  created_at: timestamp,
});

/** A qa_pair has question and answer; a chunk has document_id and content. */
const Retrieved = z.object({
  type: z.enum(retrievalTypes),
  score: z.number(),
  question: z.string().optional(),
  answer: z.string().optional(),
  document_id: z.string().optional(),
  content: z.string().optional(),
});

export const knowledgeBase = {
  add_document: operation({
    method: "POST",
    path: "/v1/knowledge-base/documents",
    scope: "inbox:write",
    title: "Add document",
    description:
      "Add a document to the chatbot's knowledge base. It is indexed in the background. Count the indexed documents with get_chatbot_status.",
    input: NewDocument,
    output: one(Document),
    status: 201,
    hints: { openWorld: true },
  }),

  add_qa_pair: operation({
    method: "POST",
    path: "/v1/knowledge-base/qa-pairs",
    scope: "inbox:write",
    title: "Add QA pair",
    description:
      "Add a question with its answer to the chatbot's knowledge base. It ranks ahead of documents.",
    input: z.object({
      question: z.string().min(1).max(2000).describe("Question, as customers ask it"),
      answer: z.string().min(1).max(8000).describe("Answer to give"),
      tags: z.array(z.string().min(1).max(64)).max(50).default([]).describe("Tags"),
    }),
    output: one(QaPair),
    status: 201,
  }),

  search_knowledge_base: operation({
    method: "POST",
    path: "/v1/knowledge-base/retrieve",
    scope: "inbox:read",
    title: "Search knowledge base",
    description:
      "Find the QA pairs and document passages that answer a question, best first. Get a written answer with chat_with_bot.",
    input: z.object({
      query: z.string().min(1).max(2000).describe("Question or keywords"),
      top_k: z
        .int()
        .min(1)
        .overwrite((value) => Math.min(value, 50))
        .default(5)
        .describe("Number of results, at most 50"),
    }),
    output: one(z.object({ results: z.array(Retrieved) })),
    effect: "read",
  }),
};
