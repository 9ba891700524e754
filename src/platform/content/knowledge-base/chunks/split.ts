/** Splits texts that are too long for a chunk: paragraphs at sentences, tables between rows. */
import { cutText } from "../../../../texts/cut.ts";

/** In characters. A passage of this size can answer a question and be quoted. */
export const chunkSize = { target: 900, max: 1_500, overlap: 150 } as const;

const { target, max, overlap } = chunkSize;

/** The end of a sentence, with its closing marks, or the end of a line. */
const sentenceEnd = /(?<=[.!?…][\])"'”’»]{0,2})\s+|(?<=[。！？])|\n+/u;

/**
 * Splits a paragraph at its sentences into pieces of about the target size. A short last sentence of a piece
 * is repeated at the beginning of the next piece, because it may introduce it.
 */
export function splitText(text: string): string[] {
  if (text.length <= max) {
    return [text];
  }
  const sentences = text
    .split(sentenceEnd)
    .filter((sentence) => sentence !== "")
    .flatMap(splitSentence);
  const pieces: string[][] = [];
  let piece: string[] = [];
  let length = 0;
  for (const sentence of sentences) {
    if (piece.length > 0 && length + sentence.length > target) {
      pieces.push(piece);
      const last = piece.at(-1) ?? "";
      const isRepeated =
        piece.length > 1 && last.length <= overlap && last.length + sentence.length <= target;
      piece = isRepeated ? [last] : [];
      length = isRepeated ? last.length + 1 : 0;
    }
    piece.push(sentence);
    length += sentence.length + 1;
  }
  return [...pieces, piece].map((each) => each.join(" "));
}

/**
 * Splits a sentence that is too long between words, and a word that is too long anywhere except within a
 * character.
 */
function splitSentence(sentence: string): string[] {
  const parts: string[] = [];
  let rest = sentence;
  while (rest.length > target) {
    const space = rest.lastIndexOf(" ", target);
    const part = cutText(rest, space > target / 2 ? space : target);
    parts.push(part);
    rest = rest.slice(part.length).trimStart();
  }
  return rest === "" ? parts : [...parts, rest];
}

/** Splits a table between rows into pieces that each begin with its header, the first row. */
export function splitTable(rows: readonly string[]): string[] {
  const [header = "", ...others] = rows;
  const whole = rows.join("\n");
  if (whole.length <= max || others.length === 0) {
    return whole.length <= max ? [whole] : splitText(whole);
  }
  // A first row that is as long as a chunk is no header.
  if (header.length > target / 2) {
    return groupRows(rows.flatMap(splitText), target).map((group) => group.join("\n"));
  }
  const space = target - header.length;
  return groupRows(others.flatMap(splitText), space).map((group) => [header, ...group].join("\n"));
}

function groupRows(rows: readonly string[], size: number): string[][] {
  const groups: string[][] = [];
  let length = 0;
  for (const row of rows) {
    const group = groups.at(-1);
    if (group && length + row.length < size) {
      group.push(row);
      length += row.length + 1;
    } else {
      groups.push([row]);
      length = row.length;
    }
  }
  return groups;
}
