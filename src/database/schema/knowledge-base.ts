/** Columns of the knowledge base, and of the chatbot that answers from it. */

/** Something in a document that a person should look at. */
export interface DocumentWarning {
  readonly code: "instruction_like_text" | "invisible_characters" | "pages_without_text";
  readonly message: string;
  /** The place, if the warning is about one place. */
  readonly page: number | null;
  readonly heading: string | null;
  readonly excerpt: string | null;
}

export interface KnowledgeColumns {
  knowledge_documents: {
    source_type: "pdf" | "markdown" | "url";
    status: "processing" | "ready" | "failed";
    warnings: readonly DocumentWarning[];
  };
  knowledge_chunks: {
    headings: readonly string[];
  };
  knowledge_qa_pairs: {
    tags: readonly string[];
  };
}

/** A graph in its normal form, as `src/platform/automation/chatbot/graph/` reads it. */
export type StoredGraph = {
  readonly entry_point: string;
  readonly nodes: readonly Readonly<Record<string, unknown>>[];
  readonly edges: readonly Readonly<Record<string, unknown>>[];
};

/** The source of an answer. */
export type TurnSource = {
  readonly type: "chunk" | "qa_pair";
  readonly document_id: string | null;
  readonly document_name: string | null;
  readonly heading: string | null;
  readonly page: number | null;
  /** The position of the passage in the document, from 1. */
  readonly chunk: number | null;
  readonly question: string | null;
  /** Earlier versions did not store this field. */
  readonly below_threshold?: boolean;
};

export interface ChatbotColumns {
  chatbot_configs: {
    graph: StoredGraph;
  };
  chatbot_conversations: {
    state: "active" | "ended";
    started_by: "inbox" | "flow";
  };
  chatbot_turns: {
    status: "pending" | "answered" | "handed_off" | "covered" | "skipped";
    sources: readonly TurnSource[];
    found: readonly TurnSource[];
    /** The most tokens that the answer being written may use. They count until `reserved_until`. */
    reserved_tokens: number;
  };
}
