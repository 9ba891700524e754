/**
 * Answers with words of the knowledge base alone: a stored answer, or sentences of a passage. The same input has the same
 * answer. It knows no language beyond words and endings, so a question in other words than the passage's has no answer.
 */
import { directScore } from "../../knowledge-base/index.ts";
import type { Answer, Passage, Question } from "./answer.ts";
import { sentencesOf, subjectWords } from "./words.ts";

/** Of the words of both questions, the part that is the same in a pair that is answered verbatim. */
const pairFloor = 0.7;
/** Of the question's words, the part that the quoted sentences and the headings above them must have. */
const coverageFloor = 0.6;
const maxSentences = 3;
/** In characters. A longer sentence is a table or the like, which does not read as an answer. */
const maxSentence = 1000;

const quoted = { model: null, usage: null } as const;

export function respondByQuoting({ text, passages }: Question): Answer {
  const asked = subjectWords(text);
  const pair = passages.find((passage) => passage.type === "qa_pair" && matches(passage, asked));
  if (pair?.type === "qa_pair") {
    return { outcome: "answered", text: pair.answer, sources: [pair], ...quoted };
  }
  const [best] = passages
    .map((passage, rank) => quote(passage, { asked, rank }))
    .filter(({ coverage }) => coverage >= coverageFloor)
    .sort((one, other) => other.score - one.score);
  return best
    ? { outcome: "answered", text: best.text, sources: [best.passage], ...quoted }
    : { outcome: "unknown", reason: "not_found", ...quoted };
}

function matches(
  { question, score }: Extract<Passage, { type: "qa_pair" }>,
  asked: ReadonlySet<string>,
): boolean {
  const words = subjectWords(question);
  const shared = intersect(asked, words).size;
  const all = new Set([...asked, ...words]).size;
  return score > directScore || (all > 0 && shared / all >= pairFloor);
}

interface Quote {
  readonly passage: Passage;
  readonly text: string;
  /** The part of the question's words that it has, with its headings. */
  readonly coverage: number;
  /** Orders the quotes. */
  readonly score: number;
}

/** The sentences of a passage that have most of the question's words; of those that have as many, the first. */
function quote(
  passage: Passage,
  { asked, rank }: { readonly asked: ReadonlySet<string>; readonly rank: number },
): Quote {
  const { above, content } = partsOf(passage);
  const sentences = sentencesOf(content).filter((sentence) => sentence.length <= maxSentence);
  const hits = sentences.map((sentence) => intersect(asked, subjectWords(sentence)));
  const chosen: number[] = [];
  const covered = new Set<string>();
  while (chosen.length < maxSentences) {
    const gains = hits.map((words) => [...words].filter((word) => !covered.has(word)).length);
    const gain = Math.max(0, ...gains);
    if (gain === 0) {
      break;
    }
    const next = gains.indexOf(gain);
    chosen.push(next);
    for (const word of hits[next] ?? []) {
      covered.add(word);
    }
  }
  const places = chosen.flatMap((place) => (leadsOn(sentences[place]) ? [place, place + 1] : [place]));
  const text = [...new Set(places)]
    .sort((one, other) => one - other)
    .flatMap((place) => sentences[place] ?? [])
    .slice(0, maxSentences)
    .join(" ");
  const withHeadings = new Set([...covered, ...intersect(asked, subjectWords(above))]);
  const part = (count: number) => (asked.size === 0 ? 0 : count / asked.size);
  const coverage = covered.size === 0 ? 0 : part(withHeadings.size);
  // What the sentences say counts most, then what stands above them, then the order of the search.
  return { passage, text, coverage, score: part(covered.size) + 0.5 * coverage + 0.1 / (1 + rank) };
}

/** A sentence that announces the next one, and does not answer by itself. */
function leadsOn(sentence = ""): boolean {
  return /[:?]$/.test(sentence);
}

/** What is quoted, and what stands above it. */
function partsOf(passage: Passage): { readonly above: string; readonly content: string } {
  return passage.type === "qa_pair"
    ? { above: passage.question, content: passage.answer }
    : { above: `${passage.document_name} ${passage.heading ?? ""}`, content: passage.content };
}

function intersect(one: ReadonlySet<string>, other: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...one].filter((word) => other.has(word)));
}
