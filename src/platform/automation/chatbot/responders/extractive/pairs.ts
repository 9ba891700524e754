/** Finds the QA pair whose question means the same as the contact's question. */

import { pause } from "../../../../../time/pauses.ts";
import type { Passage } from "../answer.ts";
import { subjectForms, subjectWords, wordsOf } from "../words.ts";
import { weigh } from "./evidence.ts";
import type { NearWords } from "./near-words.ts";
import type { ParsedQuestion } from "./question.ts";

type Pair = Extract<Passage, { type: "qa_pair" }>;

/**
 * asked: share of the contact's question that the pair must cover; pair: share of the pair's question that
 * the contact must have asked.
 */
const floors = { asked: 0.75, pair: 0.33, missing: 0.2, near: 0.4 } as const;
/** Two questions with this cosine or more are the same, for all models that we know. */
const sameQuestion = 0.95;
const margin = 0.1;

export interface PairSearch {
  readonly asked: ParsedQuestion;
  readonly near: NearWords;
  /**
   * Two questions with this cosine or more may be the same if most words are; undefined: only the words
   * decide.
   */
  readonly nearQuestions: number | undefined;
}

export async function findPair(passages: readonly Passage[], search: PairSearch): Promise<Pair | undefined> {
  const { asked } = search;
  const pairs = passages.filter((passage) => passage.type === "qa_pair");
  const matches: { readonly pair: Pair; readonly score: number; readonly text: string }[] = [];
  for (const pair of pairs) {
    await pause();
    const score = scoreOf(pair, search);
    if (score > 0 && (asked.kind?.has(pair.answer) ?? true)) {
      matches.push({ pair, score, text: textOf(pair.answer) });
    }
  }
  matches.sort((one, other) => other.score - one.score);
  const [best] = matches;
  // Another pair with the same answer does not make the match ambiguous.
  const rival = matches.find(({ text }) => best && text !== best.text);
  return best && best.score - (rival?.score ?? 0) >= margin ? best.pair : undefined;
}

/** Finds the pair whose question is the contact's question, by the vectors of both. */
export function findSameQuestion(passages: readonly Passage[]): Pair | undefined {
  return passages
    .filter((passage) => passage.type === "qa_pair")
    .find(({ similarity }) => (similarity ?? 0) >= sameQuestion);
}

/** The words of an answer, for a comparison that ignores spaces, case and punctuation. */
function textOf(answer: string): string {
  return wordsOf(answer).join(" ");
}

/** Returns 0 if the pair has another question. */
function scoreOf(
  { question, answer, similarity }: Pair,
  { asked, near, nearQuestions = 1 }: PairSearch,
): number {
  const own = subjectWords(question);
  const none: ReadonlySet<string> = new Set();
  const place = { own, above: none, before: subjectWords(answer), passageWords: none };
  const evidence = weigh(asked, place, near);
  const words = [...subjectForms(question)].filter(([, word]) => !asked.kind?.asking.has(word));
  const isAsked = ([word]: readonly [string, string]) =>
    asked.words.some(({ stem }) => stem === word || near.get(stem)?.has(word));
  const back = words.length === 0 ? 1 : words.filter(isAsked).length / words.length;
  const isSame =
    evidence.coverage >= floors.asked && back >= floors.pair && evidence.missing <= floors.missing;
  const isNear =
    (similarity ?? 0) >= nearQuestions && evidence.coverage >= floors.near && !evidence.missesExact;
  return isSame || isNear ? evidence.coverage + back : 0;
}
