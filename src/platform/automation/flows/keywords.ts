/**
 * Compares messages with keywords.
 *
 * Texts are compared without case, accents, compatible forms and surrounding space. Regular expressions are RE2, which takes
 * linear time whatever the expression, because a company's expression meets a stranger's text; `patterns.ts` matches them.
 */
import type { KeywordMatch } from "../../../tools/flows/index.ts";
import { removeAccents } from "../query/index.ts";
import type { MatchPattern, PatternTest } from "./patterns.ts";

/** The longest text of a message. */
export const maxLength = 4096;

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

/** A keyword, or several that are separated by commas; a regular expression is one. */
export interface Keyword {
  readonly match: KeywordMatch;
  readonly keyword: string;
}

/** Whether a message has one of the keywords. `matches` knows the verdicts on `keywordTests`. */
export function matchesKeyword(message: string, keyword: Keyword, matches: MatchPattern): boolean {
  const { match } = keyword;
  if (match === "regex") {
    return keywordTests(message, keyword).some(matches);
  }
  const normalized = normalize(message.slice(0, maxLength));
  return splitKeywords(keyword.keyword).some((one) => comparisons[match](normalized, one));
}

/** What is to be matched first for a regular expression. */
export function keywordTests(message: string, { match, keyword }: Keyword): readonly PatternTest[] {
  if (match !== "regex") {
    return [];
  }
  // A compatible form may be longer than its character.
  const text = message.slice(0, maxLength).normalize("NFKC").slice(0, maxLength);
  return [{ pattern: keyword, text }];
}

/** Without empty ones. */
export function splitKeywords(keyword: string): readonly string[] {
  return keyword.split(",").flatMap((one) => normalize(one) || []);
}

/** The keyword of an edge: the match may stand before it, as in `contains:order`. */
export function readEdgeKeyword(value: string): Keyword {
  const [, match, keyword] = /^(exact|word|contains|starts_with|regex):(.*)$/s.exec(value) ?? [];
  // The expression has only names of matches.
  return match === undefined || keyword === undefined
    ? { match: "word", keyword: value }
    : { match: match as KeywordMatch, keyword };
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
