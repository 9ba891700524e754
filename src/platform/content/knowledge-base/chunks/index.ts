/**
 * Divides a document into chunks, the passages that a search finds.
 *
 * A chunk follows the structure: it never crosses a heading of the same or a higher level than the one it is under.
 * Short sections below that heading may share a chunk with it. Only a paragraph or a table that is longer than a chunk
 * is split.
 */
import type { DocumentBlock } from "../../../../ports/files/document-reader.ts";
import { pause } from "../../../../time/pauses.ts";
import { chunkSize, splitTable, splitText } from "./split.ts";

export { divideBlocks } from "./blocks.ts";
export { cleanBlocks, cleanText, findWarnings } from "./clean.ts";
export { chunkSize } from "./split.ts";

export interface Chunk {
  /** The headings above it, the highest first. */
  readonly headings: readonly string[];
  /** Its first and last page, from 1; null for formats without pages. */
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
  /** Items and headings are separated from what follows by a line break, others by an empty line. */
  readonly isLine: boolean;
  readonly isHeading: boolean;
}

const { target, max } = chunkSize;

/** A section that is at least this long ends before the next heading, also a lower one: a chunk has one subject. */
const closingLength = 200;
/** A chunk that is shorter takes a part more, as long as it stays within the maximum. */
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
      // It only introduces this heading.
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
  // The heading that begins a chunk is one of its headings, and is not repeated in the text, unless it is all of it.
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
