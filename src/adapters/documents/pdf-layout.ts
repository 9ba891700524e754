/** Finds the headings and paragraphs in the lines of a PDF, by their size and the space between them. */
import type { DocumentBlock } from "../../ports/files/document-reader.ts";

export interface PdfLine {
  readonly text: string;
  /** The height of the letters, in points. */
  readonly size: number;
  readonly x: number;
  /** The distance from the lower edge of the page. */
  readonly y: number;
  readonly page: number;
}

/** A heading is larger than the body text by this factor, and not longer than one or two lines. */
const headingFactor = 1.15;
const maxHeadingLength = 150;
const headingLevels = 4;

/** Lines that repeat at the edge of this share of the pages are headers and footers. */
const runningShare = 0.5;
const minRunningPages = 4;

/** Drops the first and last lines of pages that repeat, including page numbers. */
export function withoutRunningLines(lines: readonly PdfLine[], pages: number): readonly PdfLine[] {
  if (pages < minRunningPages) {
    return lines;
  }
  const body = bodySize(lines);
  // Digits are ignored, because page numbers change, except in headings, where a number is part of the title.
  const keyOf = ({ text, y, size }: PdfLine) =>
    `${Math.round(y)} ${size >= body * headingFactor ? text : text.replace(/\d+/g, "#").trim()}`;
  const edges = lines.filter((line, index) => {
    const isFirst = lines[index - 1]?.page !== line.page || lines[index - 2]?.page !== line.page;
    const isLast = lines[index + 1]?.page !== line.page || lines[index + 2]?.page !== line.page;
    return isFirst || isLast;
  });
  const counts = new Map<string, Set<number>>();
  for (const line of edges) {
    const key = keyOf(line);
    counts.set(key, (counts.get(key) ?? new Set()).add(line.page));
  }
  const running = new Set(
    edges.filter((line) => (counts.get(keyOf(line))?.size ?? 0) > pages * runningShare),
  );
  return lines.filter((line) => !running.has(line));
}

export function toBlocks(lines: readonly PdfLine[]): DocumentBlock[] {
  const body = bodySize(lines);
  const levels = headingSizes(lines, body);
  const blocks: DocumentBlock[] = [];
  for (const paragraph of groupLines(lines, body)) {
    const [first] = paragraph;
    if (first === undefined) {
      continue;
    }
    const text = joinLines(paragraph);
    const level = levels.indexOf(roundSize(first.size)) + 1;
    const isHeading = level > 0 && text.length <= maxHeadingLength && /\p{L}/u.test(text);
    const { page } = first;
    blocks.push(
      isHeading
        ? { kind: "heading", level, text, page }
        : { kind: isListItem(text) ? "item" : "text", text, page },
    );
  }
  return blocks;
}

/** The size of most letters. */
function bodySize(lines: readonly PdfLine[]): number {
  const letters = new Map<number, number>();
  for (const { size, text } of lines) {
    letters.set(roundSize(size), (letters.get(roundSize(size)) ?? 0) + text.length);
  }
  const [most] = [...letters].sort(([, one], [, other]) => other - one);
  return most?.[0] ?? 0;
}

/** The sizes of headings, largest first. Further, smaller sizes share the last level. */
function headingSizes(lines: readonly PdfLine[], body: number): number[] {
  const sizes = new Set(
    lines.map(({ size }) => roundSize(size)).filter((size) => size >= body * headingFactor),
  );
  return [...sizes].sort((one, other) => other - one).slice(0, headingLevels);
}

function roundSize(size: number): number {
  return Math.round(size * 2) / 2;
}

/**
 * Groups the lines of a paragraph: lines of the same size and column, below each other without a larger gap.
 */
function* groupLines(lines: readonly PdfLine[], body: number): Generator<PdfLine[]> {
  let group: PdfLine[] = [];
  for (const line of lines) {
    const previous = group.at(-1);
    if (previous && !belongs(previous, line, body)) {
      yield group;
      group = [];
    }
    group.push(line);
  }
  if (group.length > 0) {
    yield group;
  }
}

function belongs(previous: PdfLine, line: PdfLine, body: number): boolean {
  const gap = previous.y - line.y;
  const size = Math.max(previous.size, line.size, body / 2);
  return (
    previous.page === line.page &&
    roundSize(previous.size) === roundSize(line.size) &&
    gap > 0 &&
    gap <= size * 1.8 &&
    !isListItem(line.text)
  );
}

function isListItem(text: string): boolean {
  return /^\s*(?:[•▪◦‣●○■–*-]|\(?\d{1,3}[.)])\s/.test(text);
}

/** Joins lines to a text, and joins words that were hyphenated at the end of a line. */
function joinLines(lines: readonly PdfLine[]): string {
  return lines
    .map(({ text }) => text)
    .reduce((joined, text) =>
      /\p{L}-$/u.test(joined) && /^\p{Ll}/u.test(text) ? joined.slice(0, -1) + text : `${joined} ${text}`,
    );
}
