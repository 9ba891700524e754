/**
 * Compares messages with keywords.
 *
 * Texts are compared without case, accents, compatible forms and surrounding space. Regular expressions are
 * RE2, which takes linear time for any expression, because one company writes the expression and strangers
 * write the text; `patterns.ts` matches them.
 */
import type { KeywordMatch } from "../../../../../tools/flows/index.ts";
import { removeAccents } from "../../../foundation/query/index.ts";
import type { MatchPattern, PatternTest } from "./patterns.ts";

/** The longest text of a message. */
export const maxLength = 4096;

/** A message in the forms that keywords are compared with: normalized once for all keywords. */
export interface ComparedText {
  /** The message as the contact wrote it. */
  readonly message: string;
  readonly normalized: string;
  /** Each word with a space before it, and a space at the end. */
  readonly words: string;
}

export function readComparedText(message: string): ComparedText {
  // A compatible form may be longer than its character.
  const normalized = normalize(message.slice(0, maxLength)).slice(0, maxLength);
  return { message, normalized, words: `${toWords(normalized)} ` };
}

type Compare = (text: ComparedText, keyword: string) => boolean;

const comparisons: Readonly<Record<Exclude<KeywordMatch, "regex">, Compare>> = {
  exact: ({ normalized }, keyword) => normalized === keyword,
  contains: ({ normalized }, keyword) => normalized.includes(keyword),
  starts_with: ({ normalized }, keyword) => normalized.startsWith(keyword),
  word({ normalized, words }, keyword) {
    const wanted = toWords(keyword);
    // A keyword that has only symbols, such as an emoji, has no words.
    return wanted === "" ? normalized.includes(keyword) : words.includes(`${wanted} `);
  },
};

/** One keyword, or several separated by commas. A regular expression is one keyword. */
export interface Keyword {
  readonly match: KeywordMatch;
  readonly keyword: string;
}

/** Whether a message has one of the keywords. `matches` must know the verdicts on `keywordTests`. */
export function matchesKeyword(text: ComparedText, keyword: Keyword, matches: MatchPattern): boolean {
  const { match } = keyword;
  return match === "regex"
    ? keywordTests(text.message, keyword).some(matches)
    : splitKeywords(keyword.keyword).some((one) => comparisons[match](text, one));
}

/** The regular expressions that must be matched first. */
export function keywordTests(message: string, { match, keyword }: Keyword): readonly PatternTest[] {
  if (match !== "regex") {
    return [];
  }
  // A compatible form may be longer than its character.
  const text = message.slice(0, maxLength).normalize("NFKC").slice(0, maxLength);
  return [{ pattern: keyword, text }];
}

/** Drops empty keywords. */
export function splitKeywords(keyword: string): readonly string[] {
  return keyword.split(",").flatMap((one) => normalize(one) || []);
}

/** Reads the keyword of an edge, which may begin with the kind of match, as in `contains:order`. */
export function readEdgeKeyword(value: string): Keyword {
  const [, match, keyword] = /^(exact|word|contains|starts_with|regex):(.*)$/s.exec(value) ?? [];
  // The first group has only names of matches.
  return match === undefined || keyword === undefined
    ? { match: "word", keyword: value }
    : { match: match as KeywordMatch, keyword };
}

/** Normalizes short texts for comparison. */
export function normalize(text: string): string {
  return removeAccents(text.normalize("NFKC")).normalize("NFC").trim().replace(/\s+/gu, " ");
}

/** Each word with a space before it. In scripts without spaces, each character is a word. */
function toWords(normalized: string): string {
  const words = normalized
    .replace(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu, " $& ")
    .match(/[\p{L}\p{M}\p{N}]+/gu);
  return (words ?? []).map((word) => ` ${word}`).join("");
}
