/**
 * How much of a question a sentence covers: words in the sentence count in full, words of the headings above
 * it a little less, and words around it less again.
 */

import { isExact, type NearWords } from "./near-words.ts";
import type { Place } from "./places.ts";
import type { ParsedQuestion, QuestionWord } from "./question.ts";

type Surroundings = Pick<Place, "own" | "above" | "before" | "passageWords">;

/** Where a word of the question may stand, and how much it counts there. */
const factors = { own: 1, above: 0.9, before: 0.6, passage: 0.25 } as const;
/** How much a word of nearly the same meaning counts instead of the same word. */
const nearFactor = 0.85;

export interface Evidence {
  /**
   * From 0 to 1, the share of the question that is covered by the sentence and the words above and around it.
   */
  readonly coverage: number;
  /** From 0 to 1, the share of the question that the sentence itself covers. */
  readonly own: number;
  /** The largest share of a single word of the question for which there is hardly any evidence. */
  readonly missing: number;
  /**
   * The largest share of a single word of the question that is only matched by a word of nearly the same
   * meaning.
   */
  readonly replaced: number;
  /** Whether one of the missing words is a number, a day or the like, which no other word can replace. */
  readonly missesExact: boolean;
}

export function weigh({ words }: ParsedQuestion, place: Surroundings, near: NearWords): Evidence {
  const found = words.map((word) => ({ ...word, ...evidenceOf(word, place, near) }));
  const sum = (part: "best" | "own") => found.reduce((total, word) => total + word.share * word[part], 0);
  const largest = (some: typeof found) => Math.max(0, ...some.map(({ share }) => share));
  const missing = found.filter(({ best }) => best < factors.before * nearFactor);
  return {
    coverage: sum("best"),
    own: sum("own"),
    missing: largest(missing),
    replaced: largest(found.filter(({ isLiteral }) => !isLiteral)),
    missesExact: missing.some(({ word }) => isExact(word)),
  };
}

function evidenceOf({ stem }: QuestionWord, place: Surroundings, near: NearWords) {
  const others = near.get(stem) ?? new Set();
  const inside = (words: ReadonlySet<string>) =>
    words.has(stem) ? 1 : [...others].some((other) => words.has(other)) ? nearFactor : 0;
  const own = inside(place.own) * factors.own;
  const best = Math.max(
    own,
    inside(place.above) * factors.above,
    inside(place.before) * factors.before,
    inside(place.passageWords) * factors.passage,
  );
  const isLiteral = [place.own, place.above, place.before].some((words) => words.has(stem));
  return { own, best, isLiteral };
}
