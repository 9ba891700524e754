/**
 * The worker thread that reads one document and ends: a hostile document can neither block the service nor use up its
 * memory.
 */
import { parentPort, workerData } from "node:worker_threads";
import type { DocumentFile, ReadDocument, UnreadableDocument } from "../../ports/document-reader.ts";
import { readHtml } from "./html.ts";
import { type DocumentLimits, UnreadableError } from "./limits.ts";
import { readMarkdown } from "./markdown.ts";
import { readPdf, requireLength } from "./pdf.ts";
import { decodeText } from "./text.ts";

export interface ReaderTask {
  readonly file: DocumentFile;
  readonly limits: DocumentLimits;
}

type Read = (file: DocumentFile, limits: DocumentLimits) => Promise<Omit<ReadDocument, "outcome">>;

const unpaged = { pages: null, emptyPages: 0 };

const readers: Readonly<Record<DocumentFile["format"], Read>> = {
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

async function read({ file, limits }: ReaderTask): Promise<ReadDocument | UnreadableDocument> {
  try {
    const document = await readers[file.format](file, limits);
    const lengths = document.blocks.map((block) =>
      block.kind === "table" ? block.rows.join("\n").length : block.text.length,
    );
    requireLength(
      lengths.reduce((sum, length) => sum + length, 0),
      limits,
    );
    return { outcome: "read", ...document };
  } catch (error) {
    if (error instanceof UnreadableError) {
      return { outcome: "unreadable", reason: error.reason, detail: error.message };
    }
    throw error;
  }
}

parentPort?.postMessage(await read(workerData as ReaderTask)); // started only by index.ts
