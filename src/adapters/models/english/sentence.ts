/**
 * The vector of a text has one part for its meaning and one for its spelling.
 *
 * Meaning: the sum of the vectors of its words and verbs of two words; rare words have longer vectors.
 * Spelling: words and groups of three letters, hashed into dimensions, so that names, codes and words that
 * are missing in the table count too. The more such words a text has, the larger the share of its spelling.
 */
import type { WordTable } from "./table.ts";
import { baseForms, readTokens } from "./words.ts";

/** Enough dimensions that different words seldom share one. */
const hashDimensions = 224;

/** The share of the spelling if all words of the text are known. */
const spellingShare = 0.15;

/** The weight of an unknown word, equal to the weight of a word in two synsets. */
const unknownWeight = 11;

/** The weight of all letter groups of a word together, relative to the word itself. */
const groupShare = 0.5;

export function embedText(text: string, table: WordTable): Float32Array {
  const tokens = readTokens(text);
  const content = tokens.filter(({ isStopWord }) => !isStopWord);
  const words = (content.length > 0 ? content : tokens).map((token) => token.text);
  const meaning = new Float32Array(table.dimensions);
  const spelling = new Float32Array(hashDimensions);
  let [known, unknown] = [0, 0];
  for (const [word, count] of countOf(words)) {
    const repetition = Math.sqrt(count);
    const weight = addWord(meaning, word, { table, factor: repetition });
    known += weight ?? 0;
    unknown += weight === undefined ? unknownWeight * repetition : 0;
    addSpelling(spelling, word, weight ?? unknownWeight * repetition);
  }
  for (const [phrase, count] of countOf(
    findPhrases(
      tokens.map((token) => token.text),
      table,
    ),
  )) {
    addWord(meaning, phrase, { table, factor: Math.sqrt(count) });
  }
  const isEmpty = known + unknown === 0;
  const share = isEmpty ? 0 : spellingShare + ((1 - spellingShare) * unknown) / (known + unknown);
  return concatenate(resize(meaning, Math.sqrt(1 - share)), resize(spelling, Math.sqrt(share)));
}

function countOf(words: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) {
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return counts;
}

/**
 * Adds the mean of the vectors of a word and of its base form, and returns its weight. Returns undefined if
 * the table has neither. Both get the weight of the more frequent form: otherwise "cancelled", as a rare
 * adjective, would outweigh "cancel".
 */
function addWord(
  sum: Float32Array,
  word: string,
  { table, factor }: { readonly table: WordTable; readonly factor: number },
): number | undefined {
  const own = table.find(word);
  const base = baseForms(word).flatMap((form) => table.find(form) ?? [])[0];
  const found = [own, base].filter((each) => each !== undefined);
  const weights = found.map(({ numbers, scale }) => scale * lengthOf(numbers));
  const weight = Math.min(...weights);
  for (const [which, { numbers, scale }] of found.entries()) {
    const share = (factor * scale * weight) / ((weights[which] ?? 1) * found.length);
    for (const [index, value] of numbers.entries()) {
      sum[index] = (sum[index] ?? 0) + share * value;
    }
  }
  return found.length === 0 ? undefined : factor * weight;
}

function lengthOf(numbers: Int8Array | Float32Array): number {
  let squares = 0;
  for (const value of numbers) {
    squares += value * value;
  }
  return Math.sqrt(squares);
}

/** Pairs of adjacent words that form a verb, such as "top up"; the first word may be inflected. */
function findPhrases(words: readonly string[], table: WordTable): string[] {
  return words.slice(0, -1).flatMap((word, index) => {
    const pairs = [word, ...baseForms(word)].map((form) => `${form} ${words[index + 1]}`);
    return pairs.find((pair) => table.find(pair) !== undefined) ?? [];
  });
}

function addSpelling(sum: Float32Array, word: string, weight: number): void {
  const marked = Array.from(`^${word}$`);
  const groups = marked.slice(2).map((_, index) => marked.slice(index, index + 3).join(""));
  addHash(sum, `=${word}`, weight);
  for (const group of groups) {
    addHash(sum, group, (groupShare * weight) / Math.sqrt(groups.length));
  }
}

function addHash(sum: Float32Array, text: string, weight: number): void {
  const hash = hashOf(text);
  const index = (hash >>> 1) % hashDimensions;
  sum[index] = (sum[index] ?? 0) + (hash & 1 ? weight : -weight);
}

/** FNV-1a with 32 bits and a final mix, because its low bits are similar for similar texts. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}

/** Scales the vector in place. The zero vector is left unchanged. */
function resize(vector: Float32Array, length: number): Float32Array {
  const factor = length / (lengthOf(vector) || 1);
  return vector.map((value) => value * factor);
}

function concatenate(one: Float32Array, other: Float32Array): Float32Array {
  const both = new Float32Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}
