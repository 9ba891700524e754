/** Writes word vectors in the format that `src/adapters/models/english/table.ts` reads. */

export interface WordVectors {
  readonly words: readonly string[];
  /** The length of each word's vector. */
  readonly weights: Float32Array;
  /** One row for each word. */
  readonly vectors: Float32Array;
  /** The singular value of each dimension. */
  readonly values: Float64Array;
  readonly dimensions: number;
}

const headerBytes = 24;

export function writeTable({ words, weights, vectors, values, dimensions }: WordVectors): Buffer {
  const text = Buffer.from(`${words.join("\n")}\n`);
  const list = Buffer.concat([text, Buffer.alloc((4 - (text.length % 4)) % 4, "\n")]);
  const header = Buffer.alloc(headerBytes);
  header.write("TDGWORDS", "latin1");
  for (const [index, number] of [1, words.length, dimensions, list.length].entries()) {
    header.writeUInt32LE(number, 8 + 4 * index);
  }
  const scales = Buffer.alloc(4 * words.length);
  const numbers = Buffer.alloc(words.length * dimensions);
  const centered = center(scaleDimensions(vectors, values), dimensions);
  for (const [index, weight] of weights.entries()) {
    const vector = centered.subarray(index * dimensions, (index + 1) * dimensions);
    const length = Math.hypot(...vector) || 1;
    const largest = Math.max(...vector.map(Math.abs)) || 1;
    scales.writeFloatLE((weight * largest) / length / 127, 4 * index);
    for (const [dimension, value] of vector.entries()) {
      numbers.writeInt8(Math.round((value / largest) * 127), index * dimensions + dimension);
    }
  }
  return Buffer.concat([header, list, scales, numbers]);
}

/**
 * Scales by the square root of the singular values; otherwise the first dimensions, which are the most
 * general, would dominate.
 */
function scaleDimensions(vectors: Float32Array, values: Float64Array): Float32Array {
  const scales = values.map(Math.sqrt);
  return vectors.map((value, index) => value * (scales[index % scales.length] ?? 0));
}

/** Returns unit vectors minus their mean, which all words have in common. */
function center(vectors: Float32Array, dimensions: number): Float32Array {
  const units = vectors.slice();
  const count = units.length / dimensions;
  const mean = new Float64Array(dimensions);
  for (let start = 0; start < units.length; start += dimensions) {
    const vector = units.subarray(start, start + dimensions);
    const length = Math.hypot(...vector) || 1;
    for (let index = 0; index < dimensions; index += 1) {
      vector[index] = (vector[index] ?? 0) / length;
      mean[index] = (mean[index] ?? 0) + (vector[index] ?? 0) / count;
    }
  }
  return units.map((value, index) => value - (mean[index % dimensions] ?? 0));
}
