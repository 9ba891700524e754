/** The tables of the knowledge base, and of the chatbot that answers from it. */
import type { ColumnType, Generated } from "kysely";
import type { Json } from "./columns.ts";

/** Something in a document that a person should look at. */
export interface DocumentWarning {
  readonly code: "instruction_like_text" | "invisible_characters" | "pages_without_text";
  readonly message: string;
  /** The place, if it is one. */
  readonly page: number | null;
  readonly heading: string | null;
  readonly excerpt: string | null;
}

export interface KnowledgeTables {
  knowledge_bases: {
    organization_id: string;
    version: number;
    model: string | null;
    reading_since: string | null;
    reading_ms: Generated<number>;
  };
  knowledge_documents: {
    organization_id: string;
    id: string;
    name: string;
    name_words: ColumnType<string, never, never>;
    source_type: "pdf" | "markdown" | "url";
    source_url: string | null;
    upload_id: string | null;
    content: string | null;
    status: "processing" | "ready" | "failed";
    failure_reason: string | null;
    failure_detail: string | null;
    progress: number;
    attempt: number;
    generation: number | null;
    pages: number | null;
    chunk_count: Generated<number>;
    warnings: Json<readonly DocumentWarning[]>;
    content_hash: string | null;
    ingested_at: string | null;
    created_at: string;
    updated_at: string;
  };
  knowledge_chunks: {
    organization_id: string;
    document_id: string;
    generation: number;
    position: number;
    headings: Json<readonly string[]>;
    page: number | null;
    last_page: number | null;
    title: string;
    content: string;
    words: ColumnType<string, never, never>;
    embedding: Uint8Array | null;
    model: string | null;
  };
  knowledge_qa_pairs: {
    organization_id: string;
    id: string;
    question: string;
    answer: string;
    tags: Json<readonly string[]>;
    words: ColumnType<string, never, never>;
    embedding: Uint8Array | null;
    model: string | null;
    created_at: string;
    updated_at: string;
  };
}

/** A graph in its normal form, as `src/platform/automation/chatbot/graph/` reads it. */
export type StoredGraph = {
  readonly entry_point: string;
  readonly nodes: readonly Readonly<Record<string, unknown>>[];
  readonly edges: readonly Readonly<Record<string, unknown>>[];
};

/** What an answer is from. */
export type TurnSource = {
  readonly type: "chunk" | "qa_pair";
  readonly document_id: string | null;
  readonly document_name: string | null;
  readonly heading: string | null;
  readonly page: number | null;
  /** The position of the passage in the document, from 1. */
  readonly chunk: number | null;
  readonly question: string | null;
  /** Earlier versions did not store it. */
  readonly below_threshold?: boolean;
};

export interface ChatbotTables {
  chatbot_configs: {
    organization_id: string;
    id: string;
    name: string | null;
    graph: Json<StoredGraph>;
    is_active: boolean;
    created_at: string;
    updated_at: string;
  };
  chatbot_conversations: {
    organization_id: string;
    conversation_id: string;
    contact_id: string;
    state: "active" | "ended";
    started_by: "inbox" | "flow";
    since: string;
    ended_at: string | null;
    ended_reason: string | null;
  };
  chatbot_turns: {
    organization_id: string;
    id: string;
    conversation_id: string;
    contact_id: string;
    message_id: string | null;
    status: "pending" | "answered" | "handed_off" | "covered" | "skipped";
    reason: string | null;
    question: string;
    answer: string | null;
    answer_message_id: string | null;
    sources: Json<readonly TurnSource[]>;
    found: Json<readonly TurnSource[]>;
    agent_used: string | null;
    model: string | null;
    input_tokens: number | null;
    output_tokens: number | null;
    /** The most that the answer under way may use, which counts until `reserved_until`. */
    reserved_tokens: number | null;
    reserved_until: string | null;
    created_at: string;
    ended_at: string | null;
  };
}
