/**
 * Checks what a language model wrote before it is sent to a contact. The model may have followed instructions
 * in a passage or a message.
 */

import { pause } from "../../../../../time/pauses.ts";
import type { Passage, UnknownReason } from "../answer.ts";
import { removeHidden } from "../neutralize.ts";
import { maxAnswer, unknownAnswer } from "../tokens.ts";
import { subjectWords, wordsOf } from "../words.ts";
import { linksOf } from "./links.ts";
import type { Prompt } from "./prompt.ts";

const citation = /[ \t]*\[(\d+(?:\s*[,;]\s*\d+)*)\]/g;

/** An answer and the prompt don't share this many consecutive words by chance. */
const sharedWords = { rules: 7, instructions: 8 } as const;

type CheckResult =
  | { readonly text: string; readonly sources: readonly Passage[] }
  | { readonly reason: UnknownReason };

interface CheckOptions {
  readonly marker: string;
  readonly prompt: Prompt;
  /** What the contact wrote, now and before. */
  readonly asked: string;
  /** The passages of the prompt, in the same order. */
  readonly passages: readonly Passage[];
}

/**
 * Returns the answer without its citations and the passages that it cites, or the reason why it can't be
 * sent.
 */
export async function checkAnswer(
  written: string,
  { marker, prompt, asked, passages }: CheckOptions,
): Promise<CheckResult> {
  const answer = removeHidden(written.normalize("NFC")).trim();
  const numbers = [...answer.matchAll(citation)].flatMap(([, list = ""]) => list.split(/[,;]/).map(Number));
  const cited = [...new Set(numbers)].map((number) => passages[number - 1]);
  const text = answer.replace(citation, "").trim();
  for (const { reason, fails } of checks) {
    await pause();
    if (await fails({ answer, text, cited, marker, prompt, asked, passages })) {
      return { reason };
    }
  }
  return { text, sources: cited.filter((passage) => passage !== undefined) };
}

interface WrittenAnswer extends CheckOptions {
  readonly answer: string;
  readonly text: string;
  readonly cited: readonly (Passage | undefined)[];
}

/** In the order in which they run. */
const checks: readonly {
  readonly reason: UnknownReason;
  fails(written: WrittenAnswer): boolean | Promise<boolean>;
}[] = [
  { reason: "not_known", fails: ({ answer }) => answer.includes(unknownAnswer) },
  { reason: "answer_too_long", fails: ({ text }) => text.length > maxAnswer },
  {
    reason: "prompt_repeated",
    fails({ answer, marker, prompt: { system, rules }, passages }) {
      const instructions = system.slice(rules.length);
      // A sentence that also stands in the passages is no secret.
      const given = passages.map(textOf).join("\n");
      return (
        answer.toLowerCase().includes(marker.toLowerCase()) ||
        sharesWords(answer, rules, { count: sharedWords.rules }) ||
        sharesWords(answer, instructions, { count: sharedWords.instructions, given })
      );
    },
  },
  { reason: "no_citation", fails: ({ cited, text }) => cited.length === 0 || text === "" },
  { reason: "unknown_citation", fails: ({ cited }) => cited.includes(undefined) },
  {
    // The contact dictated the answer: all its words are in the question, and some are not in the cited
    // passages.
    reason: "dictated",
    fails({ text, asked, cited }) {
      const given = subjectWords(cited.map((passage) => (passage ? textOf(passage) : "")).join("\n"));
      const dictated = subjectWords(asked);
      const words = [...subjectWords(text)];
      return words.every((word) => dictated.has(word)) && words.some((word) => !given.has(word));
    },
  },
  {
    reason: "unknown_link",
    async fails({ text, passages }) {
      const known = new Set<string>();
      for (const passage of passages) {
        await pause();
        linksOf(textOf(passage)).forEach((link) => {
          known.add(link);
        });
      }
      return linksOf(text).some((link) => !known.has(link));
    },
  },
];

/** Whether `count` consecutive words stand in both texts, and not in `given`. */
function sharesWords(
  answer: string,
  other: string,
  { count, given = "" }: { readonly count: number; readonly given?: string },
): boolean {
  const words = wordsOf(other);
  const asWords = (one: string) => ` ${wordsOf(one).join(" ")} `;
  const text = asWords(answer);
  const shared = words
    .slice(0, Math.max(0, words.length - count + 1))
    .map((_, start) => ` ${words.slice(start, start + count).join(" ")} `)
    .filter((row) => text.includes(row));
  // `given` is long and seldom needed.
  const known = shared.length > 0 ? asWords(given) : "";
  return shared.some((row) => !known.includes(row));
}

function textOf(passage: Passage): string {
  return passage.type === "qa_pair"
    ? `${passage.question}\n${passage.answer}`
    : `${passage.document_name}\n${passage.heading ?? ""}\n${passage.content}`;
}
