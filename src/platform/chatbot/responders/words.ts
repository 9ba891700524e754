/** Words and sentences of a text, for comparing a question with passages. In any language; English words are also stemmed. */
import { removeAccents } from "../../query/index.ts";

const wordSegmenter = new Intl.Segmenter(undefined, { granularity: "word" });
const sentenceSegmenter = new Intl.Segmenter(undefined, { granularity: "sentence" });

/** Words that say nothing about the subject of a question, in English, German, Spanish and French. */
const stopWords = new Set(
  (
    "a about am an and any anyone are as at be been being but by can could did do does done for from get give got had has have " +
    "hello hey hi how i if in into is it its just kindly know let like me may might must my need of on one or our out please " +
    "shall should so some tell than thank thanks that the their them then there these they thing this those to us want was we " +
    "were what when where which who whom whose why will with would yes you your yours " +
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
  return new Set(
    wordsOf(text)
      .filter((word) => !stopWords.has(word))
      .map(stem),
  );
}

export function wordsOf(text: string): string[] {
  return [...wordSegmenter.segment(removeAccents(text))]
    .filter(({ isWordLike }) => isWordLike)
    .map(({ segment }) => segment.replace(/['’]s?$/u, ""));
}

/** Sentences, and lines such as those of a list. */
export function sentencesOf(text: string): string[] {
  return text
    .split(/\n+/)
    .flatMap((line) => [...sentenceSegmenter.segment(line)].map(({ segment }) => segment.trim()))
    .filter((sentence) => sentence !== "");
}

/** Removes the common endings of English, so that ships, shipped and shipping are one word. */
export function stem(word: string): string {
  const [, base = word] = /^(.{3,}?)(?:ings?|ed|es|s)$/.exec(word.replace(/ies$/, "y")) ?? [];
  // shipp and ship, close and clos, delivery and deliver.
  return word.endsWith("ss")
    ? word
    : base.replace(/([bdfgmnprt])\1$/, "$1").replace(/(.{3})e$|(.{4})y$/, "$1$2");
}
