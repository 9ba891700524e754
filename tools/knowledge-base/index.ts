/** The knowledge base: documents and QA pairs for the chatbot. */
import { z } from "zod";
import {
  DeletionResult,
  type ErrorEntry,
  errorEntry,
  one,
  operation,
  paged,
  paging,
  yes,
} from "../contract/index.ts";
import {
  answer,
  content,
  Document,
  documentId,
  documentSourceUrl,
  documentStatuses,
  documentTags,
  NewDocument,
  name,
  pairId,
  QaPair,
  question,
  RetrievedPassage,
  uploadId,
} from "./shapes.ts";

export { documentStatuses, ingestionFailures, maxContent, retrievalTypes, sourceTypes } from "./shapes.ts";

const replacesText = {
  destructive: yes("The text that it replaces can't be restored."),
  openWorld: yes("It fetches the document from its address."),
} as const;

export const knowledgeBase = {
  add_document: operation({
    method: "POST",
    path: "/v1/knowledge-base/documents",
    scope: "inbox:write",
    title: "Add document",
    description: "Add a document to the chatbot's knowledge base, in the background.",
    input: NewDocument,
    output: one(Document),
    status: 201,
    hints: { openWorld: yes("It fetches the document from its address.") },
  }),

  list_documents: operation({
    method: "GET",
    path: "/v1/knowledge-base/documents",
    scope: "inbox:read",
    title: "List documents",
    description: "List the documents of the chatbot's knowledge base, the newest first.",
    input: z.object({
      search: z.string().max(255).optional().describe("Part of the name"),
      status: z.enum(documentStatuses).optional().describe("Status"),
      ...paging(20),
    }),
    output: paged(Document),
    tier: "extended",
  }),

  get_document: operation({
    method: "GET",
    path: "/v1/knowledge-base/documents/{id}",
    scope: "inbox:read",
    title: "Get document",
    description:
      "Get a document's status and progress, why it failed, and warnings, for example about text that looks like instructions to a model.",
    input: z.object({ id: documentId }),
    output: one(Document),
    tier: "extended",
  }),

  update_document: operation({
    method: "PUT",
    path: "/v1/knowledge-base/documents/{id}",
    scope: "inbox:write",
    title: "Update document",
    description:
      "Rename a document, or replace its source. A new source is read in the background; until then the old text is found.",
    input: z.object({
      id: documentId,
      name: name.optional(),
      source_url: documentSourceUrl.optional(),
      upload_id: uploadId.optional(),
      content: content.optional(),
    }),
    output: one(Document),
    tier: "extended",
    hints: replacesText,
  }),

  delete_document: operation({
    method: "DELETE",
    path: "/v1/knowledge-base/documents/{id}",
    scope: "inbox:write",
    title: "Delete document",
    description: "Delete a document, which is no longer found from then on. This can't be undone.",
    input: z.object({ id: documentId }),
    output: one(DeletionResult),
    tier: "extended",
  }),

  refresh_document: operation({
    method: "POST",
    path: "/v1/knowledge-base/documents/{id}/refresh",
    scope: "inbox:write",
    title: "Refresh document",
    description:
      "Read a document's source again, in the background. Until that has succeeded, the old text is found.",
    input: z.object({ id: documentId }),
    output: one(Document),
    tier: "extended",
    hints: { ...replacesText, idempotent: yes("An unchanged source is read with the same result.") },
  }),

  add_qa_pair: operation({
    method: "POST",
    path: "/v1/knowledge-base/qa-pairs",
    scope: "inbox:write",
    tier: "lean",
    title: "Add QA pair",
    description: "Add a question and its answer to the knowledge base, ahead of documents.",
    input: z.object({ question, answer, tags: documentTags.default([]) }),
    output: one(QaPair),
    status: 201,
  }),

  list_qa_pairs: operation({
    method: "GET",
    path: "/v1/knowledge-base/qa-pairs",
    scope: "inbox:read",
    title: "List QA pairs",
    description: "List the questions and answers of the chatbot's knowledge base, the newest first.",
    input: z.object({
      search: z.string().max(255).optional().describe("Part of the question or the answer"),
      ...paging(20),
    }),
    output: paged(QaPair),
    tier: "extended",
  }),

  get_qa_pair: operation({
    method: "GET",
    path: "/v1/knowledge-base/qa-pairs/{id}",
    scope: "inbox:read",
    title: "Get QA pair",
    description: "Get one question with its answer.",
    input: z.object({ id: pairId }),
    output: one(QaPair),
    tier: "extended",
  }),

  update_qa_pair: operation({
    method: "PUT",
    path: "/v1/knowledge-base/qa-pairs/{id}",
    scope: "inbox:write",
    title: "Update QA pair",
    description: "Change a question, its answer or its tags. Only the fields sent change.",
    input: z.object({
      id: pairId,
      question: question.optional(),
      answer: answer.optional(),
      tags: documentTags.optional(),
    }),
    output: one(QaPair),
    tier: "extended",
  }),

  delete_qa_pair: operation({
    method: "DELETE",
    path: "/v1/knowledge-base/qa-pairs/{id}",
    scope: "inbox:write",
    title: "Delete QA pair",
    description: "Delete a question with its answer. This can't be undone.",
    input: z.object({ id: pairId }),
    output: one(DeletionResult),
    tier: "extended",
  }),

  search_knowledge_base: operation({
    method: "POST",
    path: "/v1/knowledge-base/retrieve",
    scope: "inbox:read",
    tier: "lean",
    title: "Search knowledge base",
    description:
      "Find the QA pairs and passages that answer a question, best first. Correct a pair with update_qa_pair. chat_with_bot writes an answer.",
    input: z.object({
      query: z.string().trim().min(1).max(2000).describe("Question or keywords"),
      top_k: z
        .int()
        .min(1)
        .overwrite((value) => Math.min(value, 50))
        .default(5)
        .describe("Results, at most 50"),
    }),
    output: one(z.object({ results: z.array(RetrievedPassage) })),
    effect: "read",
  }),
};

export const knowledgeErrors = {
  document_not_found: errorEntry(
    "not_found",
    404,
    "There is no document with this id.",
    "Find the id with list_documents (GET /v1/knowledge-base/documents).",
  ),
  document_without_source: errorEntry(
    "business_rule",
    422,
    "The document has no source: it was added without content.",
    "Send its text in content, or an address in source_url (PUT /v1/knowledge-base/documents/{id}).",
  ),
  document_source_not_possible: errorEntry(
    "invalid_request",
    400,
    "A document of type {source_type} can't have a source of this kind.",
    "{reason}",
  ),
  qa_pair_not_found: errorEntry(
    "not_found",
    404,
    "There is no QA pair with this id.",
    "Find the id with list_qa_pairs (GET /v1/knowledge-base/qa-pairs).",
  ),
} as const satisfies Record<string, ErrorEntry>;
