/** Sets of vectors: their stored form, and exact search by the dot product. */
import { pause } from "../../../../time/pauses.ts";

/** A vector as it is stored: the bytes of its numbers, 32-bit floats, little-endian. */
export interface StoredVector {
  readonly id: string;
  readonly vector: Uint8Array;
}

/** The vectors of one organization and one model, one after the other. */
export interface VectorSet {
  readonly ids: readonly string[];
  readonly dimensions: number;
  /** Has `ids.length` × `dimensions` elements. */
  readonly numbers: Float32Array;
  /**
   * The mean of all vectors. Its dot product with a query is the mean of the vectors' dot products with the
   * query.
   */
  readonly mean: Float32Array;
}

export interface ScoredId {
  readonly id: string;
  readonly score: number;
}

const bytesPerNumber = Float32Array.BYTES_PER_ELEMENT;

export function encodeVector(vector: Float32Array): Uint8Array {
  const view = new DataView(new ArrayBuffer(vector.length * bytesPerNumber));
  for (const [index, number] of vector.entries()) {
    view.setFloat32(index * bytesPerNumber, number, true);
  }
  return new Uint8Array(view.buffer);
}

/** @throws if the vectors have different lengths, which vectors of one model never have. */
export async function packVectors(stored: readonly StoredVector[]): Promise<VectorSet> {
  const bytes = stored[0]?.vector.length ?? 0;
  const dimensions = bytes / bytesPerNumber;
  const odd = stored.find(({ vector }) => vector.length !== bytes);
  if (odd || !Number.isInteger(dimensions)) {
    throw new Error(`The vector of ${odd?.id ?? stored[0]?.id} has another length than others of its model.`);
  }
  const numbers = new Float32Array(stored.length * dimensions);
  const mean = new Float32Array(dimensions);
  for (const [row, { vector }] of stored.entries()) {
    await pauseAfter(row * dimensions, dimensions);
    const view = new DataView(vector.buffer, vector.byteOffset, bytes);
    for (let index = 0; index < dimensions; index += 1) {
      const number = view.getFloat32(index * bytesPerNumber, true);
      numbers[row * dimensions + index] = number;
      mean[index] = (mean[index] ?? 0) + number / stored.length;
    }
  }
  return { ids: stored.map(({ id }) => id), dimensions, numbers, mean };
}

/** About a millisecond is needed to read this many numbers. */
const numbersAtOnce = 250_000;

/** Pauses after every `numbersAtOnce` numbers, at the next row. */
async function pauseAfter(count: number, dimensions: number): Promise<void> {
  if (count % numbersAtOnce < dimensions) {
    await pause();
  }
}

/** The mean cosine of a query with the vectors of a set. The set must not be empty. */
export function meanScore({ mean }: VectorSet, query: Float32Array): number {
  return dot(mean, 0, query);
}

/**
 * The `limit` vectors with the largest dot product with `query`, in descending order; equal ones in the order
 * of the set. For vectors of length 1 the dot product is the cosine. Compares the query with every vector.
 * @throws if the query has another number of dimensions.
 */
export async function searchVectors(set: VectorSet, query: Float32Array, limit: number): Promise<ScoredId[]> {
  if (set.ids.length > 0 && query.length !== set.dimensions) {
    throw new Error(`The query has ${query.length} dimensions, the vectors have ${set.dimensions}.`);
  }
  const best: { row: number; score: number }[] = [];
  for (let row = 0; row < set.ids.length && limit > 0; row += 1) {
    await pauseAfter(row * set.dimensions, set.dimensions);
    const score = dot(set.numbers, row * set.dimensions, query);
    if (best.length < limit || score > (best.at(-1)?.score ?? 0)) {
      const after = best.findIndex((one) => one.score < score);
      best.splice(after < 0 ? best.length : after, 0, { row, score });
      best.length = Math.min(best.length, limit);
    }
  }
  return best.map(({ row, score }) => ({ id: set.ids[row] ?? "", score }));
}

/** Uses four sums, because each addition to a sum has to wait for the previous addition to it. */
function dot(numbers: Float32Array, start: number, query: Float32Array): number {
  const { length } = query;
  const whole = length - (length % 4);
  let [one, two, three, four] = [0, 0, 0, 0];
  for (let index = 0; index < whole; index += 4) {
    const at = start + index;
    one += (numbers[at] ?? 0) * (query[index] ?? 0);
    two += (numbers[at + 1] ?? 0) * (query[index + 1] ?? 0);
    three += (numbers[at + 2] ?? 0) * (query[index + 2] ?? 0);
    four += (numbers[at + 3] ?? 0) * (query[index + 3] ?? 0);
  }
  for (let index = whole; index < length; index += 1) {
    one += (numbers[start + index] ?? 0) * (query[index] ?? 0);
  }
  return one + two + three + four;
}
