/**
 * The randomized singular value decomposition of a sparse matrix (Halko, Martinsson and Tropp, 2011).
 *
 * Dense matrices are stored row by row in one array. The random numbers have a fixed seed, so that the same
 * input gives the same output.
 */
import type { SparseMatrix } from "./matrix.ts";

/** More directions than needed, and repeated multiplication, make the needed directions exact. */
const extraDimensions = 20;
const powerIterations = 4;

export interface Decomposition {
  /** `rows` × `dimensions`: the left singular vectors. */
  readonly vectors: Float32Array;
  /** In descending order. */
  readonly values: Float64Array;
}

export function decompose(matrix: SparseMatrix, dimensions: number): Decomposition {
  const width = dimensions + extraDimensions;
  let basis = orthonormalize(multiply(matrix, createRandom(matrix.columns * width), width), width);
  for (let iteration = 0; iteration < powerIterations; iteration += 1) {
    basis = orthonormalize(multiply(matrix, multiplyTransposed(matrix, basis, width), width), width);
  }
  const { vectors, values } = eigen(gram(multiplyTransposed(matrix, basis, width), width), width);
  const rotation = new Float64Array(width * dimensions);
  for (let row = 0; row < width; row += 1) {
    for (let column = 0; column < dimensions; column += 1) {
      rotation[row * dimensions + column] = at(vectors, row * width + column);
    }
  }
  return {
    vectors: rotate(basis, rotation, width),
    values: Float64Array.from(values.slice(0, dimensions), Math.sqrt),
  };
}

function at(numbers: Float32Array | Float64Array | Uint32Array, index: number): number {
  return numbers[index] ?? 0;
}

/** matrix × dense. */
function multiply(matrix: SparseMatrix, dense: Float32Array, width: number): Float32Array {
  const product = new Float32Array(matrix.rows * width);
  forEachEntry(matrix, (row, column, value) => {
    for (let index = 0; index < width; index += 1) {
      product[row * width + index] =
        at(product, row * width + index) + value * at(dense, column * width + index);
    }
  });
  return product;
}

/** The transpose of matrix × dense. */
function multiplyTransposed(matrix: SparseMatrix, dense: Float32Array, width: number): Float32Array {
  const product = new Float32Array(matrix.columns * width);
  forEachEntry(matrix, (row, column, value) => {
    for (let index = 0; index < width; index += 1) {
      product[column * width + index] =
        at(product, column * width + index) + value * at(dense, row * width + index);
    }
  });
  return product;
}

function forEachEntry(matrix: SparseMatrix, use: (row: number, column: number, value: number) => void): void {
  for (let row = 0; row < matrix.rows; row += 1) {
    for (let entry = at(matrix.starts, row); entry < at(matrix.starts, row + 1); entry += 1) {
      use(row, at(matrix.indexes, entry), at(matrix.values, entry));
    }
  }
}

/**
 * Orthonormalizes the columns with the Cholesky factor of the Gram matrix. Does it twice, because once is not
 * exact enough for nearly dependent columns.
 */
function orthonormalize(dense: Float32Array, width: number): Float32Array {
  const once = rotate(dense, invertFactor(gram(dense, width), width), width);
  return rotate(once, invertFactor(gram(once, width), width), width);
}

/** The transpose of dense × dense. */
function gram(dense: Float32Array, width: number): Float64Array {
  const product = new Float64Array(width * width);
  for (let start = 0; start < dense.length; start += width) {
    for (let row = 0; row < width; row += 1) {
      const value = at(dense, start + row);
      for (let column = row; column < width; column += 1) {
        product[row * width + column] = at(product, row * width + column) + value * at(dense, start + column);
      }
    }
  }
  for (let row = 0; row < width; row += 1) {
    for (let column = 0; column < row; column += 1) {
      product[row * width + column] = at(product, column * width + row);
    }
  }
  return product;
}

/** dense × square. `square` may have fewer columns than rows. */
function rotate(dense: Float32Array, square: Float64Array, width: number): Float32Array {
  const rows = dense.length / width;
  const columns = square.length / width;
  const product = new Float32Array(rows * columns);
  const sums = new Float64Array(columns);
  for (let row = 0; row < rows; row += 1) {
    sums.fill(0);
    for (let index = 0; index < width; index += 1) {
      const value = at(dense, row * width + index);
      for (let column = 0; column < columns; column += 1) {
        sums[column] = at(sums, column) + value * at(square, index * columns + column);
      }
    }
    product.set(sums, row * columns);
  }
  return product;
}

/** The inverse of the upper Cholesky factor of a Gram matrix. */
function invertFactor(square: Float64Array, width: number): Float64Array {
  const factor = new Float64Array(width * width);
  for (let row = 0; row < width; row += 1) {
    for (let column = row; column < width; column += 1) {
      let sum = at(square, row * width + column);
      for (let index = 0; index < row; index += 1) {
        sum -= at(factor, index * width + row) * at(factor, index * width + column);
      }
      factor[row * width + column] = row === column ? Math.sqrt(sum) : sum / at(factor, row * width + row);
    }
  }
  const inverse = new Float64Array(width * width);
  for (let column = 0; column < width; column += 1) {
    for (let row = column; row >= 0; row -= 1) {
      let sum = row === column ? 1 : 0;
      for (let index = row + 1; index <= column; index += 1) {
        sum -= at(factor, row * width + index) * at(inverse, index * width + column);
      }
      inverse[row * width + column] = sum / at(factor, row * width + row);
    }
  }
  return inverse;
}

/**
 * Eigenvalues in descending order, and the eigenvectors as columns, of a symmetric matrix, by Jacobi
 * rotations.
 */
function eigen(symmetric: Float64Array, width: number): { vectors: Float64Array; values: number[] } {
  const square = symmetric.slice();
  const vectors = new Float64Array(width * width);
  for (let index = 0; index < width; index += 1) {
    vectors[index * width + index] = 1;
  }
  const sweeps = 12; // Converges quadratically: eight are enough for this size.
  for (let sweep = 0; sweep < sweeps; sweep += 1) {
    for (let one = 0; one < width; one += 1) {
      for (let other = one + 1; other < width; other += 1) {
        rotatePair(square, vectors, { one, other, width });
      }
    }
  }
  const order = Array.from({ length: width }, (_, index) => index);
  order.sort((one, other) => at(square, other * width + other) - at(square, one * width + one));
  const sorted = new Float64Array(width * width);
  for (const [column, from] of order.entries()) {
    for (let row = 0; row < width; row += 1) {
      sorted[row * width + column] = at(vectors, row * width + from);
    }
  }
  return { vectors: sorted, values: order.map((index) => Math.max(0, at(square, index * width + index))) };
}

function rotatePair(
  square: Float64Array,
  vectors: Float64Array,
  { one, other, width }: { readonly one: number; readonly other: number; readonly width: number },
): void {
  const offDiagonal = at(square, one * width + other);
  if (Math.abs(offDiagonal) < 1e-14) {
    return;
  }
  const theta = (at(square, other * width + other) - at(square, one * width + one)) / (2 * offDiagonal);
  const tangent = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
  const cosine = 1 / Math.sqrt(tangent * tangent + 1);
  const sine = tangent * cosine;
  const mix = (numbers: Float64Array, first: number, second: number) => {
    const [left, right] = [at(numbers, first), at(numbers, second)];
    numbers[first] = cosine * left - sine * right;
    numbers[second] = sine * left + cosine * right;
  };
  for (let index = 0; index < width; index += 1) {
    mix(square, index * width + one, index * width + other);
    mix(vectors, index * width + one, index * width + other);
  }
  for (let index = 0; index < width; index += 1) {
    mix(square, one * width + index, other * width + index);
  }
}

/** Numbers from -1 to 1, by the generator mulberry32 with a fixed seed. */
function createRandom(length: number): Float32Array {
  let state = 20_261_122;
  return Float32Array.from({ length }, () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 31 - 1;
  });
}
