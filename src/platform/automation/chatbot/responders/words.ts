/** Words and sentences of a text, for comparing a question with passages. In any language; English words are also stemmed. */
import { removeAccents } from "../../../foundation/query/index.ts";

const wordSegmenter = new Intl.Segmenter(undefined, { granularity: "word" });
const sentenceSegmenter = new Intl.Segmenter(undefined, { granularity: "sentence" });

/** Words that say nothing about the subject of a question, in English, German, Spanish and French. */
const stopWords = new Set(
  (
    "ca wo a about after again all also always am an and another any anybody anyone anything are as at be because been before being both " +
    "but by can could did do does doing done each else every everybody everything few for from get gets give given go goes got had " +
    "has have having hello her here hey hi him his how i if in into is it its just kindly know let like may maybe me might more most " +
    "much must my need needs no not now of off ok okay on once one only or other our out own per please possible same shall she should so " +
    "some somebody someone something still such tell than thank thanks that the their them then there these they thing things this " +
    "those through to too under until up us use very want wants was we were what when where whether which while who whom whose why " +
    "will with without would yes yet you your yours " +
    "aber als am an auch auf aus bei bin bitte das dass dein dem den der des die doch ein eine einem einen einer es euch euer " +
    "fur gibt habe haben hallo hat ich ihr ihre im in ist kann konnen kannst man mein meine mich mir mit mochte muss nach nicht " +
    "noch oder sie sich sind so um und uns unser vom von wann warum was welche wenn wer werden wie wir wird wo zu zum zur " +
    "al como con cual cuando cuanto de del donde el ella en es esta este hay hola la las lo los me mi para pero por porque puedo " +
    "que quien quiero se si son su sus tiene tienen un una usted " +
    "au aux avec bonjour ce ces combien comment dans de des du elle est et il ils je le les leur ma mes mon nous ou par pas pour " +
    "pouvez puis quand que quel quelle qui sa ses son sont sur un une vos votre vous"
  ).split(" "),
);

/** The words that say what a text is about, without their endings; each once. */
export function subjectWords(text: string): ReadonlySet<string> {
  return new Set(subjectForms(text).keys());
}

/** The same words with the form in which each stands in the text first. */
export function subjectForms(text: string): ReadonlyMap<string, string> {
  const words = wordsOf(text).filter((word) => !stopWords.has(word));
  return new Map(words.reverse().map((word) => [stem(word), word]));
}

export function wordsOf(text: string): string[] {
  return (removeAccents(text).match(piece) ?? []).flatMap((part) =>
    [...wordSegmenter.segment(part)]
      .filter(({ isWordLike }) => isWordLike)
      .map(({ segment }) => segment.replace(/['’](?:s|re|ve|ll|d|m)?$/u, "").replace(/n['’]t$/u, "")),
  );
}

/**
 * A part of a text that ends at a space, or after so many characters without one. Each segment of a segmenter has a copy of the
 * whole text that is divided: in one piece, a text of 200 KB would take gigabytes.
 */
const piece = /[\s\S]{1,200}(?!\S)|\S{1,200}/gu;

/** Sentences, and lines such as those of a list. */
export function sentencesOf(text: string): string[] {
  return text
    .split(/\n+/)
    .flatMap((line) => joinAddresses([...sentenceSegmenter.segment(line)].map(({ segment }) => segment)))
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== "");
}

/** The segmenter ends a sentence at the question mark of an address such as `https://shop.example/?page=2`. */
function joinAddresses(segments: readonly string[]): readonly string[] {
  const sentences: string[] = [];
  for (const segment of segments) {
    const before = sentences.at(-1);
    if (before !== undefined && startsAddress.test(before) && /^[!-~]/.test(segment)) {
      sentences[sentences.length - 1] = before + segment;
    } else {
      sentences.push(segment);
    }
  }
  return sentences;
}

/** At the end of a text. */
const startsAddress = /(?:https?:\/\/|\bwww\.)[!-~]*$/i;

/** Removes the common endings of English, so that ships, shipped and shipping are one word. */
export function stem(word: string): string {
  const [, base = word] = /^(.{3,}?)(?:ings?|ed|es|s)$/.exec(word.replace(/ies$/, "y")) ?? [];
  // shipp and ship, close and clos, delivery and deliver.
  return word.endsWith("ss")
    ? word
    : base.replace(/([bdfgmnprt])\1$/, "$1").replace(/(.{3})e$|(.{4})y$/, "$1$2");
}
