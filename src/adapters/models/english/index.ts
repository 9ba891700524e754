/**
 * The built-in embedder for English: word vectors made from WordNet, read from a file at the first use.
 *
 * The embedder downloads nothing and needs no service. It uses single words and verbs of two words, without
 * the order of the words, so a real embedding model finds much more; see docs/operations.md.
 */
import { readFile } from "node:fs/promises";
import type { Embedder } from "../../../ports/models/embedder.ts";
import { pause } from "../../../time/pauses.ts";
import { loadOnce } from "../../load-once.ts";
import { embedText } from "./sentence.ts";
import { readWordTable } from "./table.ts";

/**
 * Raise this version with every change of the vectors: stored vectors of another version are computed again.
 */
const version = 1;

/** The build copies the file to the folder of the service. */
const file = new URL("word-vectors.bin", import.meta.url);

/**
 * Synonyms have a cosine of 0.6 to 0.9, and questions that differ in one word of six about 0.7. Of the
 * development set's questions, 86 % have 0.3 with a passage, and of another set's questions 30 %.
 */
const near = { words: 0.6, questions: 0.7, passages: 0.3 } as const;

export function createEnglishEmbedder(): Embedder {
  const load = loadOnce(async () => readWordTable(await readFile(file)));
  return {
    model: `tidings-english-${version}`,
    near,
    languageNote: "English only. Other languages are matched by spelling.",
    async embed(texts, { signal }) {
      signal.throwIfAborted();
      const table = await load();
      const vectors: Float32Array[] = [];
      for (const text of texts) {
        await pause();
        signal.throwIfAborted();
        vectors.push(embedText(text, table));
      }
      return { outcome: "embedded", vectors };
    },
  };
}
