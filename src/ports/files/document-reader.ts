/** The port to the reader of documents, which finds their headings and text. Called outside any transaction. */

export type DocumentFormat = "pdf" | "html" | "markdown";

export interface DocumentFile {
  readonly format: DocumentFormat;
  readonly bytes: Uint8Array;
  /** The declared character set of a text; default UTF-8, or what an HTML page declares itself. */
  readonly charset?: string | undefined;
}

/** A part of a document, in its order. Plain text: without markup, but not cleaned of odd characters. */
export type DocumentBlock = {
  /** Of a PDF, from 1; null for formats without pages. */
  readonly page: number | null;
} & (
  | { readonly kind: "heading" /** From 1, the highest. */; readonly level: number; readonly text: string }
  /** A paragraph, or an item of a list, which begins with "- ". Lines of code keep their line breaks. */
  | { readonly kind: "text" | "item"; readonly text: string }
  /** A line for each row, its cells separated by " | ". The first row is the header. */
  | { readonly kind: "table"; readonly rows: readonly string[] }
);

export interface ReadDocument {
  readonly outcome: "read";
  readonly blocks: readonly DocumentBlock[];
  /** Null for formats without pages. */
  readonly pages: number | null;
  /** The pages without any text, for example scanned ones. */
  readonly emptyPages: number;
}

export interface UnreadableDocument {
  readonly outcome: "unreadable";
  readonly reason: UnreadableReason;
  /** A sentence for the user. */
  readonly detail: string;
}

export type UnreadableReason =
  /** It opens only with a password. */
  | "encrypted"
  /** It is not of its format, or broken. */
  | "damaged"
  /** It is said to be text, but is not. */
  | "not_text"
  | "too_many_pages"
  /** Its text is too long. */
  | "too_long"
  /** Reading it takes more time or memory than a document may. */
  | "too_complex";

export type Reading = (ReadDocument | UnreadableDocument) & {
  /** For how long a thread was busy with the document. */
  readonly tookMs: number;
};

export interface DocumentReader {
  /**
   * Reads a document within limits of time, memory, pages and text, on another thread. The bytes must not be used
   * afterwards. @throws the reason of `signal` when it is aborted.
   */
  read(file: DocumentFile, options: { readonly signal: AbortSignal }): Promise<Reading>;
}
