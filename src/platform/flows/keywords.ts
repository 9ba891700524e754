/**
 * Compares messages with keywords.
 *
 * Texts are compared without case, accents, compatible forms and surrounding space. Regular expressions are RE2, which takes
 * linear time whatever the expression, because a company's expression meets a stranger's text.
 */
import { RE2JS } from "re2js";
import type { KeywordMatch } from "../../../tools/flows/index.ts";
import { removeAccents } from "../query/index.ts";

/** The longest text of a message. */
const maxLength = 4096;

type Compare = (text: string, keyword: string) => boolean;

const comparisons: Readonly<Record<Exclude<KeywordMatch, "regex">, Compare>> = {
  exact: (text, keyword) => text === keyword,
  contains: (text, keyword) => text.includes(keyword),
  starts_with: (text, keyword) => text.startsWith(keyword),
  word(text, keyword) {
    const words = toWords(keyword);
    // A keyword of symbols alone, such as an emoji, has no words.
    return words === "" ? text.includes(keyword) : `${toWords(text)} `.includes(`${words} `);
  },
};

/** Whether a message has one of the keywords, which are separated by commas; a regular expression is one. */
export function matchesKeyword(message: string, keyword: string, match: KeywordMatch): boolean {
  const text = message.slice(0, maxLength);
  if (match === "regex") {
    return compileRegex(keyword)?.test(text.normalize("NFKC")) ?? false;
  }
  const normalized = normalize(text);
  return splitKeywords(keyword).some((one) => comparisons[match](normalized, one));
}

/** Without empty ones. */
export function splitKeywords(keyword: string): readonly string[] {
  return keyword.split(",").flatMap((one) => normalize(one) || []);
}

/** The keyword of an edge: the match may stand before it, as in `contains:order`. */
export function readEdgeKeyword(value: string): { readonly match: KeywordMatch; readonly keyword: string } {
  const [, match, keyword] = /^(exact|word|contains|starts_with|regex):(.*)$/s.exec(value) ?? [];
  // The expression has only names of matches.
  return match === undefined || keyword === undefined
    ? { match: "word", keyword: value }
    : { match: match as KeywordMatch, keyword };
}

/** Undefined for an expression that is not valid. */
export function compileRegex(pattern: string): RE2JS | undefined {
  try {
    return RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE);
  } catch {
    return undefined;
  }
}

/** For comparisons of short texts. */
export function normalize(text: string): string {
  return removeAccents(text.normalize("NFKC")).normalize("NFC").trim().replace(/\s+/gu, " ");
}

/** Each word with a space before it. Characters of scripts without spaces are words of their own. */
function toWords(normalized: string): string {
  const words = normalized
    .replace(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu, " $& ")
    .match(/[\p{L}\p{M}\p{N}]+/gu);
  return (words ?? []).map((word) => ` ${word}`).join("");
}
