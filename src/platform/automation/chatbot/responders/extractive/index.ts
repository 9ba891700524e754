/**
 * Answers with words of the knowledge base alone: a stored answer, or sentences of a passage. The same input has the same
 * answer.
 *
 * A wrong answer is worse than a hand-off: nearly all of what was asked must stand in the sentence, or above it, the sentence
 * must have a fact of the kind that was asked for, and no other place may fit as well.
 */
import type { Embedder } from "../../../../../ports/models/embedder.ts";
import { pause } from "../../../../../time/pauses.ts";
import type { Answer, Passage, Question, UnknownReason } from "../answer.ts";
import { type Evidence, weigh } from "./evidence.ts";
import { findNearWords, type NearWords } from "./near-words.ts";
import { findPair, findSameQuestion } from "./pairs.ts";
import { formsOf, type Place, placesOf } from "./places.ts";
import { type Asked, readQuestion } from "./question.ts";

export { findSameQuestion } from "./pairs.ts";

/** What a sentence must have of the question. */
const floors = { coverage: 0.8, own: 0.25, missing: 0.2 } as const;
/** The most telling word of a question must be there itself, and not another one of nearly the same meaning. */
const maxReplaced = 0.4;
/** By how much the best sentence must be ahead of those of other passages that say something else. */
const margin = 0.04;

/** Of a question with more words about its subject, no sentence has nearly all. */
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

async function quoteSentence(passages: readonly Passage[], asked: Asked, near: NearWords): Promise<Answer> {
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

function isAnswer({ coverage, own, missing, replaced, place }: Candidate, { kind }: Asked): boolean {
  const isCovered =
    coverage >= floors.coverage && own >= floors.own && missing <= floors.missing && replaced <= maxReplaced;
  return isCovered && (kind?.has(place.text) ?? true);
}

function toCandidate(
  place: Place,
  { asked, near, rank }: { readonly asked: Asked; readonly near: NearWords; readonly rank: number },
): Candidate {
  const evidence = weigh(asked, place, near);
  // What the sentence says counts more than what stands around it; then the order of the search.
  const score = evidence.coverage + 0.2 * evidence.own + 0.02 / (1 + rank);
  return { ...evidence, place, score };
}

function unknown(reason: UnknownReason): Answer {
  return { outcome: "unknown", reason, ...quoted };
}
