/** Divides passages into sentences and table rows, each with the words in it, above it and around it. */

import { pause } from "../../../../../time/pauses.ts";
import type { Passage } from "../answer.ts";
import { sentencesOf, subjectForms, subjectWords } from "../words.ts";

export interface Place {
  readonly passage: Passage;
  /**
   * The text to quote: a sentence with the sentence that announces it, or a row with the header of its table.
   */
  readonly text: string;
  /** The words of the text. */
  readonly own: ReadonlySet<string>;
  /** The words of the headings and of the document's name. */
  readonly above: ReadonlySet<string>;
  /** The words of the sentence before, under the same heading. */
  readonly before: ReadonlySet<string>;
  /** The words of the whole passage. */
  readonly passageWords: ReadonlySet<string>;
}

/** In characters. A longer sentence does not read as an answer. */
const maxSentence = 600;
/** A line of at most this length without punctuation at its end is a heading of the lines after it. */
const maxHeading = 60;

const none: ReadonlySet<string> = new Set();

export async function placesOf(passage: Extract<Passage, { type: "chunk" }>): Promise<Place[]> {
  const { content } = passage;
  const title = subjectWords(titleOf(passage));
  const passageWords = subjectWords(content);
  const places: Place[] = [];
  let above = title;
  let before = none;
  for (const part of partsOf(content)) {
    await pause();
    if (part.kind === "heading") {
      above = new Set([...title, ...subjectWords(part.text)]);
      before = none;
      continue;
    }
    const own = subjectWords(part.text);
    if (part.text.length <= maxSentence) {
      places.push({ passage, text: part.text, own, above, before, passageWords });
    }
    before = part.kind === "row" ? none : own;
  }
  return places;
}

/** The words of a file's name are separate words. */
function titleOf({ document_name, heading }: Extract<Passage, { type: "chunk" }>): string {
  return `${document_name.replace(/[._-]+/g, " ")} ${heading ?? ""}`;
}

interface Part {
  readonly kind: "heading" | "row" | "sentence";
  readonly text: string;
}

/** A row gets the header of its table, and a sentence gets the sentence that announces it. */
function partsOf(content: string): Part[] {
  const lines = content.split("\n").filter((line) => line.trim() !== "");
  const parts: Part[] = [];
  let header: string | undefined;
  let lead: string | undefined;
  for (const [index, line] of lines.entries()) {
    if (isRow(line)) {
      if (header === undefined && isRow(lines[index + 1])) {
        header = line;
      } else {
        parts.push({ kind: "row", text: header === undefined ? line : `${header}\n${line}` });
      }
      continue;
    }
    header = undefined;
    if (isHeading(line, lines[index + 1])) {
      parts.push({ kind: "heading", text: line });
      lead = undefined;
      continue;
    }
    for (const sentence of sentencesOf(line)) {
      if (/[:?]$/.test(sentence)) {
        lead = sentence;
        continue;
      }
      parts.push({ kind: "sentence", text: lead === undefined ? sentence : `${lead} ${sentence}` });
      // The announcement applies to all items of a list, or to one sentence.
      lead = isItem(sentence) ? lead : undefined;
    }
  }
  return parts;
}

/** The words of the passages that a word of the question may be near to. The best passages come first. */
export async function formsOf(passages: readonly Passage[]): Promise<ReadonlyMap<string, string>> {
  const forms = new Map<string, string>();
  for (const passage of passages) {
    await pause();
    const text =
      passage.type === "qa_pair"
        ? `${passage.question}\n${passage.answer}`
        : `${titleOf(passage)}\n${passage.content}`;
    for (const [stem, word] of subjectForms(text)) {
      forms.set(stem, forms.get(stem) ?? word);
    }
  }
  return forms;
}

function isItem(line: string): boolean {
  return /^[-*•]|^\d+[.)]\s/.test(line);
}

function isRow(line = ""): boolean {
  return line.includes(" | ");
}

function isHeading(line: string, next: string | undefined): boolean {
  const isPlain = line.length <= maxHeading && !/[.!?:;,。！？]$|\d$/.test(line.trim()) && !isItem(line);
  return isPlain && next !== undefined;
}
