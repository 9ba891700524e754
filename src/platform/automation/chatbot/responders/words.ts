/**
 * Splits texts of any language into words and sentences, for comparing a question with passages. English
 * words are also stemmed.
 */
import { removeAccents } from "../../../foundation/query/index.ts";
import stopWordLists from "./stop-words.json" with { type: "json" };

const wordSegmenter = new Intl.Segmenter(undefined, { granularity: "word" });
const sentenceSegmenter = new Intl.Segmenter(undefined, { granularity: "sentence" });

/** Words that say nothing about the subject of a question, in English, German, Spanish and French. */
const stopWords = new Set(Object.values(stopWordLists).flat());

/** The stems of the words that say what a text is about. */
export function subjectWords(text: string): ReadonlySet<string> {
  return new Set(subjectForms(text).keys());
}

/** The same stems, each with the form in which it first stands in the text. */
export function subjectForms(text: string): ReadonlyMap<string, string> {
  const words = wordsOf(text).filter((word) => !stopWords.has(word));
  return new Map(words.reverse().map((word) => [stem(word), word]));
}

export function wordsOf(text: string): string[] {
  return (removeAccents(text).match(piece) ?? []).flatMap((part) =>
    [...wordSegmenter.segment(part)]
      .filter(({ isWordLike }) => isWordLike)
      .map(({ segment }) => segment.replace(/['’](?:s|re|ve|ll|d|m)?$/u, "").replace(/n['’]t$/u, "")),
  );
}

/**
 * A part of a text that ends at a space, or after 200 characters without a space. Each segment of a segmenter
 * holds a copy of the whole text that is divided: in one piece, a text of 200 KB would take gigabytes.
 */
const piece = /[\s\S]{1,200}(?!\S)|\S{1,200}/gu;

/** Splits a text into sentences. Lines, such as list items, are split too. */
export function sentencesOf(text: string): string[] {
  return text
    .split(/\n+/)
    .flatMap((line) => joinAddresses([...sentenceSegmenter.segment(line)].map(({ segment }) => segment)))
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== "");
}

/**
 * The segmenter ends a sentence at the question mark of an address such as `https://shop.example/?page=2`.
 */
function joinAddresses(segments: readonly string[]): readonly string[] {
  const sentences: string[] = [];
  for (const segment of segments) {
    const before = sentences.at(-1);
    if (before !== undefined && startsAddress.test(before) && /^[!-~]/.test(segment)) {
      sentences[sentences.length - 1] = before + segment;
    } else {
      sentences.push(segment);
    }
  }
  return sentences;
}

/** Matches the beginning of an address at the end of a text. */
const startsAddress = /(?:https?:\/\/|\bwww\.)[!-~]*$/i;

/** Removes the common endings of English, so that ships, shipped and shipping are one word. */
export function stem(word: string): string {
  const [, base = word] = /^(.{3,}?)(?:ings?|ed|es|s)$/.exec(word.replace(/ies$/, "y")) ?? [];
  // The endings are cut so that shipp and ship, close and clos, delivery and deliver have one stem.
  return word.endsWith("ss")
    ? word
    : base.replace(/([bdfgmnprt])\1$/, "$1").replace(/(.{3})e$|(.{4})y$/, "$1$2");
}
