/**
 * The words of a text, as the search compares them: without accents and case.
 *
 * They are found here and not by PostgreSQL, whose parser depends on the locale of the server, so that both
 * engines find the same. There are no stems: a word of a query also finds longer words.
 */
import { failField } from "../../../../../../tools/errors.ts";
import { cutText } from "../../../../../texts/cut.ts";
import { removeAccents } from "../../../../foundation/query/index.ts";

/** Scripts without spaces between words: each character is a word. */
const unspaced = String.raw`[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]`;
const wordPattern = new RegExp(`${unspaced}|(?:(?!${unspaced})[\\p{L}\\p{N}\\p{M}])+`, "gu");

/** Longer words are cut, because PostgreSQL limits the length of a word. */
const maxWordLength = 64;

/** A shorter word of a query finds only itself. */
const minPrefixLength = 3;

const maxQueryWords = 8;

interface Word {
  readonly text: string;
  /** Where the word begins in the original text. */
  readonly start: number;
}

function* readWords(text: string): Generator<Word> {
  for (const { 0: original, index: start } of text.matchAll(wordPattern)) {
    // A compatible form such as ½ becomes several words.
    for (const [word] of removeAccents(original).matchAll(wordPattern)) {
      yield { text: cutText(word, maxWordLength), start };
    }
  }
}

/** The different words of a text. */
export function searchWordsOf(text: string): readonly string[] {
  return [...new Set([...readWords(text)].map((word) => word.text))];
}

/** The different words of a query; none if it has only accents. @throws Failure `too_many_words`. */
export function readQueryWords(query: string): readonly string[] {
  const words = searchWordsOf(query);
  if (words.length > maxQueryWords) {
    throw failField("query", "too_many_words", { limit: maxQueryWords, count: words.length });
  }
  return words;
}

/** Whether a message must have all words of a query, or one of them. */
export type Combination = "all" | "any";

export interface WordQuery {
  /** At least one. */
  readonly words: readonly string[];
  readonly combination: Combination;
}

/** The query as PostgreSQL reads it, for the messages of one organization. */
export function toTsQuery(organization: string, { words, combination }: WordQuery): string {
  // A word has only letters, digits and marks.
  const terms = words.map((word) => (word.length < minPrefixLength ? `'${word}'` : `'${word}':*`));
  return `'${organization}' & (${terms.join(combination === "all" ? " & " : " | ")})`;
}

/** Characters before the match and after it. */
const passageLength = { before: 60, after: 120 } as const;

/** The part of the text around the first match; undefined if the text does not match. */
export function findPassage(text: string, { words, combination }: WordQuery): string | undefined {
  const found = [...readWords(text)];
  const starts = words.map((wanted) => found.find((word) => isMatch(word.text, wanted))?.start);
  const known = starts.filter((start) => start !== undefined);
  if (known.length === 0 || (combination === "all" && known.length < words.length)) {
    return undefined;
  }
  return cutAround(text, Math.min(...known));
}

function isMatch(word: string, wanted: string): boolean {
  return word === wanted || (wanted.length >= minPrefixLength && word.startsWith(wanted));
}

/** Cuts between words, if there are any. */
function cutAround(text: string, start: number): string {
  const from = start <= passageLength.before ? 0 : afterSpace(text, start - passageLength.before, start);
  const end = start + passageLength.after;
  const cut = cutText(text, end >= text.length ? text.length : beforeSpace(text, end, start)).slice(from);
  return `${from > 0 ? "…" : ""}${cut.trim()}${end < text.length ? "…" : ""}`;
}

function afterSpace(text: string, from: number, start: number): number {
  const space = text.slice(from, start).search(/\s/u);
  return space < 0 ? start : from + space + 1;
}

function beforeSpace(text: string, end: number, start: number): number {
  const space = text.lastIndexOf(" ", end);
  return space > start ? space : end;
}
