/**
 * Reads the text of a PDF, page by page. A PDF has no paragraphs or headings: they are derived from the
 * position and the size of its lines.
 */
import type { DocumentBlock } from "../../ports/files/document-reader.ts";
import { type DocumentLimits, UnreadableError } from "./limits.ts";
import { type PdfLine, toBlocks, withoutRunningLines } from "./pdf-layout.ts";

export interface PdfText {
  readonly blocks: DocumentBlock[];
  readonly pages: number;
  readonly emptyPages: number;
}

/** A piece of text on a page, as PDF.js reports it. */
interface TextItem {
  readonly str: string;
  /** The last two are the position, in points from the lower left corner. */
  readonly transform: readonly number[];
  readonly width: number;
  readonly height: number;
  readonly hasEOL: boolean;
}

/** @throws UnreadableError */
export async function readPdf(data: Uint8Array, limits: DocumentLimits): Promise<PdfText> {
  if (!Buffer.from(data.buffer, data.byteOffset, Math.min(data.length, 1024)).includes("%PDF-")) {
    throw new UnreadableError("damaged", "It is not a PDF file.");
  }
  // Loaded here, because only PDF files need it.
  const { getDocumentProxy } = await import("unpdf");
  const document = await getDocumentProxy(data, { isEvalSupported: false, verbosity: 0 }).catch(explain);
  const pages = document.numPages;
  if (pages > limits.pages) {
    throw new UnreadableError(
      "too_many_pages",
      `It has ${pages} pages, and a document may have ${limits.pages}. Split it into several.`,
    );
  }
  const lines: PdfLine[] = [];
  let emptyPages = 0;
  let length = 0;
  for (let number = 1; number <= pages; number += 1) {
    const page = await document.getPage(number).catch(explain);
    const { items } = await page.getTextContent().catch(explain);
    const found = toLines(items.filter(isText), number);
    length += found.reduce((sum, { text }) => sum + text.length, 0);
    requireLength(length, limits);
    emptyPages += Number(found.length === 0);
    lines.push(...found);
    page.cleanup();
  }
  return { blocks: toBlocks(withoutRunningLines(lines, pages)), pages, emptyPages };
}

export function requireLength(length: number, { textLength }: Pick<DocumentLimits, "textLength">): void {
  if (length > textLength) {
    const message = `It has more than ${textLength} characters of text. Split it into several documents.`;
    throw new UnreadableError("too_long", message);
  }
}

function explain(error: unknown): never {
  const name = error instanceof Error ? error.name : "";
  if (name === "PasswordException") {
    const message = "It opens only with a password. Save it without one, and send it again.";
    throw new UnreadableError("encrypted", message);
  }
  throw new UnreadableError("damaged", "It is damaged: it can't be opened as a PDF.");
}

function isText(item: object): item is TextItem {
  return "str" in item;
}

/**
 * Joins pieces on the same base line. A gap between two pieces is a space, and a wide gap is the border of a
 * column.
 */
function toLines(items: readonly TextItem[], page: number): PdfLine[] {
  const lines: { text: string; size: number; x: number; y: number; end: number }[] = [];
  for (const { str, transform, width, height } of items) {
    const [, , , , x = 0, y = 0] = transform;
    const line = lines.at(-1);
    const size = height > 0 ? height : (line?.size ?? 0);
    const isSameLine = line !== undefined && Math.abs(line.y - y) <= Math.max(size, line.size) * 0.3;
    if (isSameLine && x >= line.x) {
      const gap = x - line.end;
      const separator = gap > size * 2.5 ? "  " : gap > size * 0.15 ? " " : "";
      line.text += separator + str;
      line.size = str.trim() === "" ? line.size : Math.max(line.size, size);
      line.end = Math.max(line.end, x + width);
    } else if (str.trim() !== "") {
      lines.push({ text: str, size, x, y, end: x + width });
    }
  }
  return lines.map(({ text, size, x, y }) => ({ text: text.trimEnd(), size, x, y, page }));
}
