/** The shapes of documents, QA pairs and search results. */
import { z } from "zod";
import { id, timestamp, untrusted } from "../contract/index.ts";

export const sourceTypes = ["pdf", "markdown", "url"] as const;
export const retrievalTypes = ["qa_pair", "chunk"] as const;
export const documentStatuses = ["processing", "ready", "failed"] as const;

/** Why a document's text could not be read. */
export const ingestionFailures = [
  "no_content",
  "source_not_allowed",
  "source_failed",
  "too_many_redirects",
  "wrong_type",
  "file_too_large",
  "upload_not_found",
  "encrypted",
  "damaged",
  "not_text",
  "too_many_pages",
  "too_long",
  "too_complex",
  "quota_exceeded",
  "internal",
] as const;

export const warningCodes = ["instruction_like_text", "invisible_characters", "pages_without_text"] as const;

/** In characters. A longer text must be sent as a file. */
export const maxContent = 500_000;

const Warning = z.object({
  code: z.enum(warningCodes),
  message: z.string(),
  /** The place in the document, if the warning has one. */
  page: z.int().nullable(),
  heading: untrusted(z.string()).nullable(),
  excerpt: untrusted(z.string()).nullable(),
});

export const Document = z.object({
  id: z.string(),
  name: z.string(),
  source_type: z.enum(sourceTypes),
  source_url: z.string().nullable(),
  upload_id: z.string().nullable(),
  /**
   * ready: searches find the document, even if its last renewal failed. processing: searches still find its
   * previous text.
   */
  status: z.enum(documentStatuses),
  /** The failure of the last ingestion; null if it succeeded. */
  failure_reason: z.enum(ingestionFailures).nullable(),
  /** A sentence with more details. */
  failure_detail: z.string().nullable(),
  /** The progress of the ingestion, in percent. */
  progress: z.int().min(0).max(100),
  /** Null for formats without pages. */
  pages: z.int().nullable(),
  /** How many passages searches find. */
  chunk_count: z.int(),
  warnings: z.array(Warning),
  /** When the document's text was last read. */
  ingested_at: timestamp.nullable(),
  created_at: timestamp,
  updated_at: timestamp,
});

export const name = z.string().trim().min(1).max(255).describe("Name");
export const documentSourceUrl = z
  .url({ protocol: /^https?$/ })
  .max(2048)
  .describe("Address or storage_url");
export const uploadId = id("Upload", "upload_file").describe("PDF or text, from upload_file");
export const content = z.string().min(1).max(maxContent).describe("Text");
export const documentId = id("Document", "list_documents");
export const pairId = id("QA pair", "list_qa_pairs");

export const NewDocument = z
  .object({
    name,
    source_type: z.enum(sourceTypes).describe("Type"),
    source_url: documentSourceUrl.optional(),
    upload_id: uploadId.optional(),
    content: content.optional(),
  })
  .superRefine(({ source_type, source_url, upload_id }, context) => {
    if (source_type !== "markdown" && source_url === undefined && upload_id === undefined) {
      const message = `A document of type ${source_type} needs source_url.`;
      context.addIssue({ code: "custom", path: ["source_url"], message });
    }
  });

export const QaPair = z.object({
  id: z.string(),
  question: z.string(),
  answer: z.string(),
  tags: z.array(z.string()),
  created_at: timestamp,
  updated_at: timestamp,
});

export const question = z.string().trim().min(1).max(2000).describe("Question, as customers ask it");
/** One text message carries it. */
export const answer = z.string().trim().min(1).max(4096).describe("Answer to give");
export const documentTags = z.array(z.string().min(1).max(64)).max(50).describe("Tags");

/** A qa_pair has question and answer; a chunk has document_id and content. */
export const RetrievedPassage = z.object({
  type: z.enum(retrievalTypes),
  /**
   * Above 0, up to 1, best first. Above 0.9: a QA pair whose question matches. Otherwise 0.9 for a result
   * that is the best both by words and by meaning, and less for other results. Compares the results of one
   * search, and is no probability.
   */
  score: z.number().min(0).max(1),
  /**
   * Whether the result has too little in common with the query to be about it, by its words and, if meanings
   * were compared, by its meaning.
   */
  below_threshold: z.boolean(),
  question: z.string().optional(),
  answer: z.string().optional(),
  qa_pair_id: z.string().optional(),
  document_id: z.string().optional(),
  document_name: z.string().optional(),
  /** The headings above the passage, highest level first, separated by " > ". */
  heading: untrusted(z.string()).nullable().optional(),
  page: z.int().nullable().optional(),
  /** The position of the passage in the document, from 1. */
  chunk: z.int().optional(),
  content: untrusted(z.string()).optional(),
});
