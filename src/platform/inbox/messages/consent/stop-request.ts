/**
 * Recognizes a message that seems to ask for no more messages although it is not a stop word.
 *
 * It only gives a reason to ask the contact: nothing is changed by it. A message is such a request if one of
 * its clauses, which are the texts between punctuation marks,
 * 1. contains a stop phrase, such as "unsubscribe" or "stop … messages", and no negation directly before
 *    it or with only linking words in between: "unsubscribe me" is a request, "I do not want to
 *    unsubscribe" is not; or
 * 2. consists of a stop verb and fillers alone: "please stop sending me these" is a request, "please stop the
 *    delivery" and "don't stop, I like it" are not. A verb without a filler must be the whole message: "Stop!
 *    Zé is not coming" is not a request.
 * The words are in `stop-phrases.ts` and `stop-verbs.ts`. A request in other words is not found, and a
 * quotation counts as a request.
 */
import { removeAccents } from "../../../foundation/query/index.ts";
import { stopPhrases } from "./stop-phrases.ts";
import { fillers, linkingWords, negations, stopVerbs } from "./stop-verbs.ts";

/** The longest text that this service sends; of a longer one the rest is not looked at. */
const maxLength = 4096;

export function asksToStop(text: string): boolean {
  const start = text.slice(0, maxLength);
  const clauses = start.split(clauseEnd).map(toWords);
  const isRequest = (words: string) => hasPhrase(words) || (isPlea.test(words) && !isVerb.test(words));
  return isPlea.test(toWords(start)) || clauses.some(isRequest);
}

const clauseEnd = /[.!?;\n…。！？؟।,:()–—،、，]/u;

function hasPhrase(words: string): boolean {
  return [...words.matchAll(anyPhrase)].some(({ index }) => !endsWithNegation.test(words.slice(0, index)));
}

/** Each word with a space before it, so that patterns match whole words. */
function toWords(text: string): string {
  return removeAccents(text)
    .normalize("NFC")
    .replace(/['’‘`´ʼ]|\p{Cf}/gu, "")
    .replace(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu, " $& ")
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, " ")
    .trimEnd()
    .replace(/^ ?(?=.)/u, " ");
}

/** A pattern that matches any of the phrases. */
function anyOf(phrases: readonly string[]): string {
  return `(?:${phrases.map(toPattern).join("|")})`;
}

function toPattern(phrase: string): string {
  const parts = phrase.split(" ").map((part) => {
    return part === "…" ? `(?:(?!${negation}) [^ ]+){0,3}` : `(?:${part.split("/").map(toWords).join("|")})`;
  });
  return `${parts.join("")}(?= |$)`;
}

const negation = anyOf(negations);
const anyPhrase = new RegExp(anyOf(stopPhrases), "gu");
const isVerb = new RegExp(`^${anyOf(stopVerbs)}$`, "u");
const isPlea = new RegExp(
  `^${anyOf(fillers)}*${anyOf(stopVerbs)}${anyOf([...fillers, ...stopVerbs])}*$`,
  "u",
);
const endsWithNegation = new RegExp(`${negation}${anyOf(linkingWords)}*$`, "u");
