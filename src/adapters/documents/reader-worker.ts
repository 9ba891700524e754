/**
 * The worker thread that reads one document and ends, so that a hostile document can neither block the
 * service nor use up its memory.
 */
import { parentPort, workerData } from "node:worker_threads";
import type { DocumentFile, ReadDocument, UnreadableDocument } from "../../ports/files/document-reader.ts";
import { readHtml } from "./html.ts";
import { type DocumentLimits, UnreadableError } from "./limits.ts";
import { readMarkdown } from "./markdown.ts";
import { readPdf, requireLength } from "./pdf.ts";
import { decodeText } from "./text.ts";

export interface ReaderTask {
  readonly file: DocumentFile;
  readonly limits: DocumentLimits;
}

type FormatReader = (file: DocumentFile, limits: DocumentLimits) => Promise<Omit<ReadDocument, "outcome">>;

const unpaged = { pages: null, emptyPages: 0 };

const readers: Readonly<Record<DocumentFile["format"], FormatReader>> = {
  pdf: ({ bytes }, limits) => readPdf(bytes, limits),
  html: async ({ bytes, charset }, limits) => {
    const text = decodeText(bytes, charset ?? declaredCharset(bytes));
    return { ...unpaged, blocks: readHtml(text, limits) };
  },
  markdown: async ({ bytes, charset }, limits) => {
    const text = decodeText(bytes, charset);
    requireLength(text.length, limits);
    return { ...unpaged, blocks: readMarkdown(text, limits) };
  },
};

/** The character set that an HTML page declares at its beginning. */
function declaredCharset(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 2048)).toString("latin1");
  return /<meta[^>]+charset\s*=\s*["']?([\w-]+)/i.exec(head)?.[1];
}

/** @throws UnreadableError */
function requireSize({ blocks }: Pick<ReadDocument, "blocks">, limits: DocumentLimits): void {
  const parts = blocks.map((block) => (block.kind === "table" ? block.rows : [block.text]));
  const lengths = parts.map((texts) => texts.reduce((length, text) => length + text.length + 1, 0));
  requireLength(
    lengths.reduce((sum, length) => sum + length, -blocks.length),
    limits,
  );
  if (parts.reduce((count, texts) => count + texts.length, 0) > limits.parts) {
    const message = `It has more than ${limits.parts} paragraphs and rows. Split it into several documents.`;
    throw new UnreadableError("too_complex", message);
  }
}

async function read({ file, limits }: ReaderTask): Promise<ReadDocument | UnreadableDocument> {
  try {
    const document = await readers[file.format](file, limits);
    requireSize(document, limits);
    return { outcome: "read", ...document };
  } catch (error) {
    if (error instanceof UnreadableError) {
      return { outcome: "unreadable", reason: error.reason, detail: error.message };
    }
    throw error;
  }
}

parentPort?.postMessage(await read(workerData as ReaderTask)); // started only by index.ts
