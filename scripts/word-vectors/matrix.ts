/** The matrix of words and synsets: how strongly each word is related to each meaning. */
import { baseForms, readTokens } from "../../src/adapters/models/english/words.ts";
import type { Synset } from "./wordnet.ts";

/** Rows are words, columns are synsets. Row `r` has the entries from `starts[r]` to `starts[r + 1]`. */
export interface SparseMatrix {
  readonly rows: number;
  readonly columns: number;
  readonly starts: Uint32Array;
  readonly indexes: Uint32Array;
  readonly values: Float32Array;
}

export interface WordMatrix {
  readonly words: readonly string[];
  /** The weight of a word in a text: the logarithm of its rarity in definitions. */
  readonly weights: Float32Array;
  readonly matrix: SparseMatrix;
}

/** How strongly a word belongs to a synset, by where it occurs. */
const strengths = {
  member: 6,
  related: 2.5,
  hypernym: 2,
  definition: 1,
  example: 0.5,
  parentDefinition: 0.25,
};

/** Links to synsets of nearly the same meaning: similar, derived, of the same verb group, see also. */
const relatedLinks = ["&", "+", "$", "^", "\\"];
const hypernymLinks = ["@", "@i"];

export function createMatrix(synsets: readonly Synset[], size: number): WordMatrix {
  const lemmas = new Set(synsets.flatMap(({ members }) => members.map(({ lemma }) => lemma)));
  const columns = weighColumns(synsets, lemmas);
  const frequencies = countColumns(columns);
  const words = chooseWords(frequencies, synsets, size);
  const rowOf = new Map(words.map((word, index) => [word, index]));
  const weights = Float32Array.from(words, (word) => rarity(frequencies.get(word) ?? 1, columns.length));
  return { words, weights, matrix: toRows(columns, rowOf, weights) };
}

type Column = Map<string, number>;

function weighColumns(synsets: readonly Synset[], lemmas: ReadonlySet<string>): Column[] {
  const byId = new Map(synsets.map((synset) => [synset.id, synset]));
  return synsets.map((synset) => {
    const column: Column = new Map();
    const add = (word: string, strength: number) => column.set(word, (column.get(word) ?? 0) + strength);
    const addMembers = ({ members }: Synset, strength: number) => {
      for (const { lemma, sense } of members) {
        // A rare sense of a word counts less.
        for (const word of toWords(lemma)) {
          add(word, strength / Math.sqrt(sense));
        }
      }
    };
    const addText = (text: string, strength: number) => {
      for (const { text: token, isStopWord } of readTokens(text)) {
        if (!isStopWord) {
          add(findLemma(token, lemmas), strength);
        }
      }
    };
    addMembers(synset, strengths.member);
    addText(synset.definition, strengths.definition);
    addText(synset.examples, strengths.example);
    for (const { type, to } of synset.links) {
      const linked = byId.get(to);
      if (linked && relatedLinks.includes(type)) {
        addMembers(linked, strengths.related);
      }
      if (linked && hypernymLinks.includes(type)) {
        addMembers(linked, strengths.hypernym);
        addText(linked.definition, strengths.parentDefinition);
      }
    }
    return column;
  });
}

/** A lemma of several words counts as the whole and as its single words. */
function toWords(lemma: string): string[] {
  const words = readTokens(lemma).filter(({ isStopWord }) => !isStopWord);
  return [...new Set([lemma, ...words.map(({ text }) => text)])];
}

function findLemma(token: string, lemmas: ReadonlySet<string>): string {
  return lemmas.has(token) ? token : (baseForms(token).find((form) => lemmas.has(form)) ?? token);
}

function countColumns(columns: readonly Column[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const word of columns.flatMap((column) => [...column.keys()])) {
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return counts;
}

/** The most frequent words, and all verbs of two words, such as "top up". */
function chooseWords(
  frequencies: ReadonlyMap<string, number>,
  synsets: readonly Synset[],
  size: number,
): string[] {
  const verbs = synsets.filter(({ id }) => id.startsWith("v")).flatMap(({ members }) => members);
  const phrases = new Set(verbs.map(({ lemma }) => lemma).filter((lemma) => /^[a-z]+ [a-z]+$/.test(lemma)));
  const stopWords = new Set([...frequencies.keys()].filter((word) => readTokens(word)[0]?.isStopWord));
  const single = [...frequencies]
    .filter(([word, count]) => count > 1 && /^[a-z]{2,}$/.test(word) && !stopWords.has(word))
    .sort(([one, count], [other, otherCount]) => otherCount - count || (one < other ? -1 : 1))
    .map(([word]) => word);
  return [...single.slice(0, size - phrases.size), ...phrases].sort();
}

function rarity(columnsWithWord: number, columns: number): number {
  return Math.log(columns / columnsWithWord);
}

/** Weighs by rarity, and scales every column to the length 1, so that long definitions do not dominate. */
function toRows(
  columns: readonly Column[],
  rowOf: ReadonlyMap<string, number>,
  weights: Float32Array,
): SparseMatrix {
  const rows: { index: number; value: number }[][] = Array.from(weights, () => []);
  for (const [index, column] of columns.entries()) {
    const entries = [...column].flatMap(([word, strength]) => {
      const row = rowOf.get(word);
      return row === undefined ? [] : [{ row, value: Math.log1p(strength) * (weights[row] ?? 0) }];
    });
    const length = Math.hypot(...entries.map(({ value }) => value)) || 1;
    for (const { row, value } of entries) {
      rows[row]?.push({ index, value: value / length });
    }
  }
  const starts = new Uint32Array(rows.length + 1);
  for (const [row, entries] of rows.entries()) {
    starts[row + 1] = (starts[row] ?? 0) + entries.length;
  }
  const all = rows.flat();
  return {
    rows: rows.length,
    columns: columns.length,
    starts,
    indexes: Uint32Array.from(all, ({ index }) => index),
    values: Float32Array.from(all, ({ value }) => value),
  };
}
