/**
 * Makes texts of customers and documents safe for a prompt: they can't end their block, imitate a role or
 * hide characters.
 *
 * Sentences of passages that address a language model are removed as well. No list of phrases finds all such
 * sentences: the real protection is that the model has no tools and no secrets, and that its answers are
 * checked.
 */

import { pause } from "../../../../time/pauses.ts";
import type { Passage, Question } from "./answer.ts";
import { unknownAnswer } from "./tokens.ts";
import { sentencesOf } from "./words.ts";

/**
 * Control characters except line breaks; soft hyphens, zero-width and bidirectional characters and tags
 * (ignorable); private use.
 */
const hidden = /[\p{Cc}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu;

/** Delimiters of our blocks, and delimiters by which models separate roles. */
const delimiters =
  /<{2,}|>{2,}|<\||\|>|\[\/?inst\]|<\/?\s*(?=(?:data|end|s|sys|system|assistant|user|human|im_\w+|tool\w*|function\w*)\b)/gi;
const roles = /^([ \t>#*-]*(?:system|assistant|developer|user|human|ai|tool))[ \t]*:/gim;
/** Text that looks like the number of a passage. */
const citations = /\[\s*\d[\d\s,;]*\]/g;

export function removeHidden(text: string): string {
  return text
    .replace(/\r\n?|\t/g, (space) => (space === "\t" ? " " : "\n"))
    .replace(hidden, (character) => (character === "\n" ? "\n" : ""));
}

/**
 * Deeply nested delimiters are no ordinary text, and each round reads the whole text: after the last round
 * all delimiter characters are removed.
 */
const maxRounds = 10;

/** Returns a text in the form in which it may stand in a block. */
export function neutralize(text: string): string {
  let clean = removeHidden(text.normalize("NFKC"));
  // A removal may join the text around it to a new delimiter.
  for (let round = 0, before = ""; clean !== before; round += 1) {
    before = clean;
    clean =
      round < maxRounds
        ? clean.replace(delimiters, " ").replace(citations, " ")
        : clean.replace(/[<>|[\]]/g, " ");
  }
  return clean.replace(roles, "$1 -").replaceAll(new RegExp(unknownAnswer, "gi"), " ").trim();
}

/** Phrases that address a model and not a customer, in English, German, Spanish and French. */
const addressed = [
  /(?:^|[.!?]\s+)assistant\s*:/i,
  /\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:instruction|prompt|rule|guideline|polic|above|previous|prior|earlier|everything)/i,
  /\b(?:system|developer|hidden|initial) (?:prompt|message|instruction)/i,
  /\b(?:you are|act as|pretend to be|behave as|roleplay as) (?:now |no longer )*(?:an? |the )?(?:\w+ ){0,3}(?:ai|assistant|chatbot|bot|language model|llm|gpt|dan|pirate|hacker)\b/i,
  /\b(?:dear|attention|note to|message to|instructions? (?:to|for)|hey) (?:the |any |all )?(?:ai|assistants?|chatbots?|bots?|language models?|llms?|models?)\b/i,
  /\b(?:ai|assistants?|chatbots?|language models?|llms?|the model)\b.{0,20}\b(?:must|should|shall|have to|need to|is required to)\b/i,
  /\b(?:new|updated|real|true|secret) (?:instructions?|task|rules?) ?(?::|for you|are|is)/i,
  /\b(?:jailbreak|developer mode|do anything now|prompt injection|system override)\b/i,
  /\b(?:ignorier|vergiss|missachte)\w*\b.{0,40}\b(?:anweisung|regel|vorherig|obig|prompt)/i,
  /\b(?:ignora|olvida|omite)\w*\b.{0,40}\b(?:instrucci|regla|anterior|prompt)/i,
  /\b(?:ignore[zr]?|oublie[zr]?)\b.{0,40}\b(?:instruction|consigne|r[eè]gle|pr[eé]c[eé]dent|prompt)/i,
] as const;

export function addressesModel(sentence: string): boolean {
  const plain = removeHidden(sentence.normalize("NFKC"));
  return addressed.some((phrase) => phrase.test(plain));
}

/** Removes the sentences that address a model. Passages that become empty are dropped. */
export async function cleanPassages(passages: Question["passages"]): Promise<readonly Passage[]> {
  const clean: Passage[] = [];
  for (const passage of passages) {
    await pause();
    clean.push(...cleanPassage(passage));
  }
  return clean;
}

function cleanPassage(passage: Passage): Passage[] {
  if (passage.type === "qa_pair") {
    const answer = dropAddressed(passage.answer);
    return answer === "" ? [] : [{ ...passage, answer }];
  }
  const content = dropAddressed(passage.content);
  return content === "" ? [] : [{ ...passage, content }];
}

/** Returns a text without such sentences unchanged. */
function dropAddressed(text: string): string {
  const lines = text.split("\n").map((line) =>
    addressesModel(line)
      ? sentencesOf(line)
          .filter((sentence) => !addressesModel(sentence))
          .join(" ")
      : line,
  );
  const clean = lines.join("\n");
  // A phrase may be spread over lines.
  const isSpread = addressesModel(clean.replace(/\s+/g, " "));
  return (
    isSpread
      ? sentencesOf(clean.replace(/\s+/g, " "))
          .filter((one) => !addressesModel(one))
          .join(" ")
      : clean
  ).trim();
}
