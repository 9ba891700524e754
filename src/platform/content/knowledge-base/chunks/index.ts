/**
 * Divides a document into chunks, the passages that a search finds.
 *
 * A chunk follows the structure: it never crosses a heading of the same or a higher level than its own
 * heading. Short sections below its own heading may share the chunk. Only a paragraph or a table that is
 * longer than a chunk is split.
 */
import type { DocumentBlock } from "../../../../ports/files/document-reader.ts";
import { pause } from "../../../../time/pauses.ts";
import { chunkSize, splitTable, splitText } from "./split.ts";

export { divideBlocks } from "./blocks.ts";
export { cleanBlocks, cleanText, findDocumentWarnings } from "./clean.ts";
export { chunkSize } from "./split.ts";

export interface Chunk {
  /** The headings above the chunk, highest level first. */
  readonly headings: readonly string[];
  /** The chunk's first and last page, from 1; null for formats without pages. */
  readonly page: number | null;
  readonly last_page: number | null;
  readonly content: string;
}

interface Heading {
  readonly level: number;
  readonly text: string;
}

/** A piece of a block that fits into a chunk. */
interface Part {
  readonly text: string;
  readonly page: number | null;
  /** Items and headings are separated from the next part by a line break, other parts by an empty line. */
  readonly isLine: boolean;
  readonly isHeading: boolean;
}

const { target, max } = chunkSize;

/**
 * A section of at least this length ends before the next heading, even a lower one, so that a chunk has one
 * subject.
 */
const closingLength = 200;
/** A shorter chunk may grow up to the maximum instead of the target. */
const shortLength = target / 3;

export async function toChunks(blocks: readonly DocumentBlock[]): Promise<Chunk[]> {
  const chunks: Chunk[] = [];
  const path: Heading[] = [];
  let open: { readonly headings: readonly Heading[]; readonly parts: Part[] } | undefined;

  function close(): void {
    if (open) {
      chunks.push(toChunk(open.headings, open.parts));
    }
    open = undefined;
  }

  function add(part: Part): void {
    const length = open ? lengthOf(open.parts) : 0;
    const limit = length < shortLength ? max : target;
    if (length > 0 && length + part.text.length + 2 > limit) {
      close();
    }
    open ??= { headings: [...path], parts: [] };
    open.parts.push(part);
  }

  for (const block of blocks) {
    await pause();
    if (block.kind !== "heading") {
      for (const part of toParts(block)) {
        add(part);
      }
      continue;
    }
    const { level, text, page } = block;
    const ownLevel = open?.headings.at(-1)?.level ?? 0;
    if (open && level > ownLevel && open.parts.every(({ isHeading }) => isHeading)) {
      // The open chunk has only headings, which introduce this heading.
      open = undefined;
    } else if (open && (level <= ownLevel || ownLevel === 0 || lengthOf(open.parts) >= closingLength)) {
      close();
    }
    while ((path.at(-1)?.level ?? 0) >= level) {
      path.pop();
    }
    path.push({ level, text });
    if (open) {
      add({ text, page, isLine: true, isHeading: true });
    } else {
      open = { headings: [...path], parts: [{ text, page, isLine: true, isHeading: true }] };
    }
  }
  close();
  return chunks;
}

function toChunk(headings: readonly Heading[], parts: readonly Part[]): Chunk {
  const [first] = parts;
  // The heading that begins a chunk is one of its `headings`, so the text does not repeat it, unless it is
  // the whole text.
  const isOwnHeading = first?.isHeading && first.text === headings.at(-1)?.text;
  const shown = isOwnHeading && parts.length > 1 ? parts.slice(1) : parts;
  const pages = parts.flatMap(({ page }) => page ?? []);
  const content = shown.map((part, index) => part.text + separator(part, shown[index + 1])).join("");
  return {
    headings: headings.map(({ text }) => text),
    page: pages.at(0) ?? null,
    last_page: pages.at(-1) ?? null,
    content,
  };
}

function separator(part: Part, next: Part | undefined): string {
  return next === undefined ? "" : part.isLine && !next.isHeading ? "\n" : "\n\n";
}

function toParts(block: Exclude<DocumentBlock, { kind: "heading" }>): Part[] {
  const texts = block.kind === "table" ? splitTable(block.rows) : splitText(block.text);
  const { page } = block;
  return texts.map((text) => ({ text, page, isLine: block.kind === "item", isHeading: false }));
}

function lengthOf(parts: readonly Part[]): number {
  return parts.reduce((length, { text }) => length + text.length + 2, 0);
}
