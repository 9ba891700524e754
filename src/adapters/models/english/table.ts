/**
 * The table of word vectors, in the format that `scripts/word-vectors/` writes.
 *
 * Little-endian: "TDGWORDS", then the version of the format, the number of words, the number of dimensions
 * and the size of the word list in bytes (32 bits each), the words in lines, a scale for each word (float),
 * and the vectors (8 bits for each dimension). A vector times its scale is longer the rarer the word is.
 */

export interface WordTable {
  readonly dimensions: number;
  /** Returns undefined if the table does not have the word or the verb of two words. */
  find(word: string): WordVector | undefined;
}

export interface WordVector {
  readonly numbers: Int8Array;
  readonly scale: number;
}

const magic = "TDGWORDS";
const formatVersion = 1;
const headerBytes = 24;

/** @throws if the content is not such a table. */
export function readWordTable(content: Buffer): WordTable {
  const isTable = content.length > headerBytes && content.toString("latin1", 0, magic.length) === magic;
  if (!isTable || content.readUInt32LE(8) !== formatVersion) {
    throw new Error("The file of word vectors has an unknown format: build the package again.");
  }
  const [count, dimensions, listBytes] = [12, 16, 20].map((offset) => content.readUInt32LE(offset)) as [
    number, // one for each offset
    number,
    number,
  ];
  const scales = headerBytes + listBytes;
  const vectors = scales + 4 * count;
  if (content.length !== vectors + count * dimensions) {
    throw new Error("The file of word vectors is damaged: build the package again.");
  }
  const words = content.toString("utf8", headerBytes, scales).trimEnd().split("\n");
  const positions = new Map(words.map((word, index) => [word, index]));
  const numbers = new Int8Array(content.buffer, content.byteOffset + vectors, count * dimensions);
  return {
    dimensions,
    find(word) {
      const index = positions.get(word);
      return index === undefined
        ? undefined
        : {
            numbers: numbers.subarray(index * dimensions, (index + 1) * dimensions),
            scale: content.readFloatLE(scales + 4 * index),
          };
    },
  };
}
