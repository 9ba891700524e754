/**
 * Answers only with words of the knowledge base: a stored answer, or sentences of a passage. The same input
 * has the same answer.
 *
 * A wrong answer is worse than a hand-off. So nearly all words of the question must stand in the sentence or
 * above it, the sentence must contain a fact of the kind that was asked for, and no other sentence may fit as
 * well.
 */
import type { Embedder } from "../../../../../ports/models/embedder.ts";
import { pause } from "../../../../../time/pauses.ts";
import type { Answer, Passage, Question, UnknownReason } from "../answer.ts";
import { type Evidence, weigh } from "./evidence.ts";
import { findNearWords, type NearWords } from "./near-words.ts";
import { findPair, findSameQuestion } from "./pairs.ts";
import { formsOf, type Place, placesOf } from "./places.ts";
import { type ParsedQuestion, readQuestion } from "./question.ts";

export { findSameQuestion } from "./pairs.ts";

/** How much of the question a sentence must cover. */
const floors = { coverage: 0.8, own: 0.25, missing: 0.2 } as const;
/**
 * The most telling word of a question must itself be in the text: a word of nearly the same meaning is not
 * enough.
 */
const maxReplaced = 0.4;
/** How far the score of the best sentence must be above the scores of other passages with another answer. */
const margin = 0.04;

/** No sentence has nearly all words of a question with more words than this. */
const maxAsked = 100;

const quoted = { model: null, usage: null } as const;

export interface QuoteOptions {
  readonly embedder: Embedder;
  readonly signal: AbortSignal;
}

/** @throws the reason of `signal`. */
export async function respondByQuoting(question: Question, options: QuoteOptions): Promise<Answer> {
  const asked = readQuestion(question);
  if (asked.words.length === 0) {
    return unknown("not_found");
  }
  const pair = findSameQuestion(question.passages);
  if (pair) {
    return quotePair(pair);
  }
  if (asked.words.length > maxAsked) {
    return unknown("not_found");
  }
  const near = await findNearWords(asked.forms, await formsOf(question.passages), options);
  const { questions: nearQuestions } = options.embedder.near ?? {};
  const matching = await findPair(question.passages, { asked, near, nearQuestions });
  return matching ? quotePair(matching) : quoteSentence(question.passages, asked, near);
}

function quotePair(pair: Extract<Passage, { type: "qa_pair" }>): Answer {
  return { outcome: "answered", text: pair.answer, sources: [pair], ...quoted };
}

interface Candidate extends Evidence {
  readonly place: Place;
  readonly score: number;
}

async function quoteSentence(
  passages: readonly Passage[],
  asked: ParsedQuestion,
  near: NearWords,
): Promise<Answer> {
  const chunks = passages.filter((passage) => passage.type === "chunk");
  const candidates: Candidate[] = [];
  for (const [rank, passage] of chunks.entries()) {
    for (const place of await placesOf(passage)) {
      await pause();
      const candidate = toCandidate(place, { asked, near, rank });
      if (isAnswer(candidate, asked)) {
        candidates.push(candidate);
      }
    }
  }
  candidates.sort((one, other) => other.score - one.score);
  const [best] = candidates;
  if (!best) {
    return unknown("not_found");
  }
  const rival = candidates.find(
    ({ place }) => place.passage !== best.place.passage && place.text !== best.place.text,
  );
  if (rival && best.score - rival.score < margin) {
    return unknown("ambiguous");
  }
  const { place } = best;
  return { outcome: "answered", text: place.text, sources: [place.passage], ...quoted };
}

function isAnswer({ coverage, own, missing, replaced, place }: Candidate, { kind }: ParsedQuestion): boolean {
  const isCovered =
    coverage >= floors.coverage && own >= floors.own && missing <= floors.missing && replaced <= maxReplaced;
  return isCovered && (kind?.has(place.text) ?? true);
}

function toCandidate(
  place: Place,
  { asked, near, rank }: { readonly asked: ParsedQuestion; readonly near: NearWords; readonly rank: number },
): Candidate {
  const evidence = weigh(asked, place, near);
  // The words of the sentence itself count more than the words around it; the order of the search comes last.
  const score = evidence.coverage + 0.2 * evidence.own + 0.02 / (1 + rank);
  return { ...evidence, place, score };
}

function unknown(reason: UnknownReason): Answer {
  return { outcome: "unknown", reason, ...quoted };
}
