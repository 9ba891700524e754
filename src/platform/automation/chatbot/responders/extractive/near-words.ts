/** Finds words of nearly the same meaning by their vectors, and misspelled words by their letters. */
import type { Embedder } from "../../../../../ports/models/embedder.ts";
import { pause } from "../../../../../time/pauses.ts";

/** The words of a text: the stem, and the form in which the word stands in the text. */
export type WordForms = ReadonlyMap<string, string>;

/** For the stem of a word, the stems that may replace it. */
export type NearWords = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * Words that name one of a few values: their vectors are near each other, but they never mean the same. Words
 * with digits are treated in the same way.
 */
const exact = new Set(
  (
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october " +
    "november december spring summer autumn winter one two three four five six seven eight nine ten eleven twelve hundred thousand " +
    "second minute hour day week month year first third fourth fifth last morning noon afternoon evening night single double adult " +
    "child children open closed small large big black white red blue green yellow brown grey gray left right man woman men women"
  ).split(" "),
);

/** Whether no other word can replace this word. */
export function isExact(word: string): boolean {
  return /\p{N}/u.test(word) || exact.has(word) || exact.has(word.replace(/s$/, ""));
}

/**
 * Each word of a question is compared with this many words. Twenty ordinary passages have about 2,000 words.
 */
const maxCandidates = 5_000;
/** The most near words of one word. */
const maxNear = 100;

/** Words are compared by their vectors only if the model is made for single words. */
export async function findNearWords(
  asked: WordForms,
  others: WordForms,
  { embedder, signal }: { readonly embedder: Embedder; readonly signal: AbortSignal },
): Promise<NearWords> {
  const open = [...asked].filter(([, word]) => !isExact(word));
  const candidates = [...others].filter(([, word]) => !isExact(word)).slice(0, maxCandidates);
  const vectors = await embedWords(
    [...open, ...candidates].map(([, word]) => word),
    { embedder, signal },
  );
  const floor = embedder.near?.words ?? 1;
  const meansSame = (one: string, other: string) => {
    const [first, second] = [vectors.get(one), vectors.get(other)];
    return first !== undefined && second !== undefined && dot(first, second) >= floor;
  };
  const nearWords = new Map<string, ReadonlySet<string>>();
  for (const [stem, word] of open) {
    await pause();
    // A word that also stands in the other text is spelled correctly.
    const isKnown = others.has(stem);
    const near = candidates.filter(
      ([, other]) => meansSame(word, other) || (!isKnown && isMisspelled(word, other)),
    );
    nearWords.set(stem, new Set(near.slice(0, maxNear).map(([other]) => other)));
  }
  return nearWords;
}

async function embedWords(
  words: readonly string[],
  { embedder, signal }: { readonly embedder: Embedder; readonly signal: AbortSignal },
): Promise<ReadonlyMap<string, Float32Array>> {
  if (embedder.near === undefined) {
    return new Map();
  }
  const distinct = [...new Set(words)];
  const embedded = await embedder.embed(distinct, { signal });
  const vectors = embedded.outcome === "embedded" ? embedded.vectors : [];
  return new Map(vectors.map((vector, index) => [distinct[index] ?? "", vector]));
}

function dot(one: Float32Array, other: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < one.length; index += 1) {
    sum += (one[index] ?? 0) * (other[index] ?? 0);
  }
  return sum;
}

/** A short word with one letter changed is another word. */
const minMisspelled = 6;

/**
 * Whether one letter is missing, added, changed or swapped with the next letter. The first letter must be the
 * same.
 */
function isMisspelled(one: string, other: string): boolean {
  if (Math.min(one.length, other.length) < minMisspelled || one[0] !== other[0]) {
    return false;
  }
  let start = 0;
  while (start < one.length && one[start] === other[start]) {
    start += 1;
  }
  const [rest, otherRest] = [one.slice(start), other.slice(start)];
  const swapped = `${rest[1] ?? ""}${rest[0] ?? ""}${rest.slice(2)}`;
  return (
    rest.slice(1) === otherRest.slice(1) ||
    rest.slice(1) === otherRest ||
    rest === otherRest.slice(1) ||
    swapped === otherRest
  );
}
