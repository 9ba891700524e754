/** What a question asks: its words with their weights, and the kind of fact that would answer it. */
import type { Question } from "../answer.ts";
import { stem, subjectForms, wordsOf } from "../words.ts";
import { type FactKind, findKind } from "./kinds.ts";
import type { WordForms } from "./near-words.ts";

export interface QuestionWord {
  readonly word: string;
  readonly stem: string;
  /** The word's share of the question. Rare words have a larger share. */
  readonly share: number;
}

export interface ParsedQuestion {
  readonly words: readonly QuestionWord[];
  readonly forms: WordForms;
  /** Undefined: any sentence may answer. */
  readonly kind: FactKind | undefined;
}

export function readQuestion({ text, terms }: Pick<Question, "text" | "terms">): ParsedQuestion {
  const kind = findKind(text);
  const all = [...subjectForms(text)];
  const subject = all.filter(([, word]) => !kind?.asking.has(word));
  // For example, "What does it cost?" has no words besides the asking ones.
  const forms = new Map(subject.length > 0 ? subject : all);
  const weights = new Map(
    terms.flatMap(({ word, weight }) => wordsOf(word).map((part) => [stem(part), weight] as const)),
  );
  const mean = terms.reduce((sum, { weight }) => sum + weight, 0) / terms.length || 1;
  const weighted = [...forms].map(([form, word]) => ({
    word,
    stem: form,
    weight: weights.get(form) ?? mean,
  }));
  const sum = weighted.reduce((total, { weight }) => total + weight, 0) || 1;
  return { words: weighted.map(({ weight, ...word }) => ({ ...word, share: weight / sum })), forms, kind };
}
