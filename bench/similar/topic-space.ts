/** A topic space: the subspace that a truncated singular value decomposition finds in the weighted terms of pages. */

import type { RandomSource } from '../world/random.ts'

/** A sparse matrix. Row r has the entries from `starts[r]` to `starts[r + 1]`. Columns are below `width`. */
export type SparseRows = { width: number; starts: Uint32Array; columns: Uint32Array; values: Float32Array }

/** A dense matrix, row by row. */
type Dense = { rows: number; columns: number; values: Float64Array }

/** Extra dimensions during the iteration. The more, the faster it converges. */
const OVERSAMPLING = 10
/** Directions whose eigenvalue is below this share of the largest are noise. */
const MIN_EIGENVALUE_SHARE = 1e-12
const MAX_SWEEPS = 30
const ROTATION_LIMIT = 1e-14

/**
 * Returns the right singular vectors of the `dimensions` largest singular values: `width` rows of `dimensions` numbers.
 * Randomized subspace iteration (Halko, Martinsson and Tropp 2011, algorithm 4.4). If the matrix has a lower rank, the
 * last columns are 0.
 */
export function rightSingularVectors(
  matrix: SparseRows,
  dimensions: number,
  random: RandomSource,
  iterations = 4,
): Float64Array {
  const columns = dimensions + OVERSAMPLING
  let basis: Dense = { rows: matrix.width, columns, values: new Float64Array(matrix.width * columns) }
  for (let at = 0; at < basis.values.length; at++) basis.values[at] = gaussian(random)
  basis = orthonormalized(basis)
  for (let iteration = 0; iteration < iterations; iteration++)
    basis = orthonormalized(transposedTimes(matrix, times(matrix, basis)))
  const { vectors, order } = eigenDecomposition(gramMatrix(times(matrix, basis)), columns)
  const chosen = new Float64Array(columns * dimensions)
  for (let row = 0; row < columns; row++)
    for (let at = 0; at < dimensions; at++) chosen[row * dimensions + at] = vectors[row * columns + order[at]!]!
  return multiply(basis, chosen, dimensions).values
}

/** Box and Muller 1958. */
function gaussian(random: RandomSource): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}

function times({ starts, columns: at, values }: SparseRows, dense: Dense): Dense {
  const { columns } = dense
  const rows = starts.length - 1
  const product = new Float64Array(rows * columns)
  for (let row = 0; row < rows; row++)
    for (let entry = starts[row]!; entry < starts[row + 1]!; entry++) {
      const [from, value] = [at[entry]! * columns, values[entry]!]
      for (let column = 0; column < columns; column++)
        product[row * columns + column]! += value * dense.values[from + column]!
    }
  return { rows, columns, values: product }
}

function transposedTimes({ width, starts, columns: at, values }: SparseRows, dense: Dense): Dense {
  const { columns } = dense
  const product = new Float64Array(width * columns)
  for (let row = 0; row < dense.rows; row++)
    for (let entry = starts[row]!; entry < starts[row + 1]!; entry++) {
      const [to, value] = [at[entry]! * columns, values[entry]!]
      for (let column = 0; column < columns; column++)
        product[to + column]! += value * dense.values[row * columns + column]!
    }
  return { rows: width, columns, values: product }
}

function gramMatrix({ rows, columns, values }: Dense): Float64Array {
  const gram = new Float64Array(columns * columns)
  for (let row = 0; row < rows; row++)
    for (let a = 0, from = row * columns; a < columns; a++) {
      const value = values[from + a]!
      for (let b = a; b < columns; b++) gram[a * columns + b]! += value * values[from + b]!
    }
  for (let a = 0; a < columns; a++) for (let b = 0; b < a; b++) gram[a * columns + b] = gram[b * columns + a]!
  return gram
}

/** Multiplies by a matrix of `dense.columns` rows and `width` columns. */
function multiply(dense: Dense, matrix: Float64Array, width: number): Dense {
  const values = new Float64Array(dense.rows * width)
  for (let row = 0; row < dense.rows; row++)
    for (let inner = 0; inner < dense.columns; inner++) {
      const value = dense.values[row * dense.columns + inner]!
      for (let column = 0; column < width; column++)
        values[row * width + column]! += value * matrix[inner * width + column]!
    }
  return { rows: dense.rows, columns: width, values }
}

/** Returns orthonormal columns with the same span, the main directions first. Missing directions are 0. */
function orthonormalized(dense: Dense): Dense {
  const { columns } = dense
  const { vectors, eigenvalues, order } = eigenDecomposition(gramMatrix(dense), columns)
  const scaled = new Float64Array(columns * columns)
  const min = MIN_EIGENVALUE_SHARE * eigenvalues[order[0]!]!
  for (let at = 0; at < columns; at++) {
    const eigenvalue = eigenvalues[order[at]!]!
    if (eigenvalue <= min) continue
    for (let row = 0; row < columns; row++)
      scaled[row * columns + at] = vectors[row * columns + order[at]!]! / Math.sqrt(eigenvalue)
  }
  return multiply(dense, scaled, columns)
}

/** Cyclic Jacobi method for a symmetric matrix. `vectors`: in columns. `order`: columns by descending eigenvalue. */
function eigenDecomposition(
  symmetric: Float64Array,
  size: number,
): { vectors: Float64Array; eigenvalues: Float64Array; order: number[] } {
  const matrix = symmetric.slice()
  const vectors = new Float64Array(size * size)
  for (let at = 0; at < size; at++) vectors[at * size + at] = 1
  for (let sweep = 0, rotated = true; rotated && sweep < MAX_SWEEPS; sweep++) {
    rotated = false
    for (let p = 0; p < size; p++)
      for (let q = p + 1; q < size; q++) if (rotate(matrix, vectors, size, p, q)) rotated = true
  }
  const eigenvalues = Float64Array.from({ length: size }, (_, at) => matrix[at * size + at]!)
  const order = Array.from(eigenvalues.keys()).sort((a, b) => eigenvalues[b]! - eigenvalues[a]!)
  return { vectors, eigenvalues, order }
}

/** Makes one entry 0. Returns whether it was not negligible. */
function rotate(matrix: Float64Array, vectors: Float64Array, size: number, p: number, q: number): boolean {
  const [pp, qq, pq] = [matrix[p * size + p]!, matrix[q * size + q]!, matrix[p * size + q]!]
  if (pq === 0 || Math.abs(pq) <= ROTATION_LIMIT * Math.sqrt(Math.abs(pp * qq))) return false
  const theta = (qq - pp) / (2 * pq)
  const tangent = Math.sign(theta || 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1))
  const cosine = 1 / Math.sqrt(tangent * tangent + 1)
  const sine = tangent * cosine
  for (let at = 0; at < size; at++) {
    const [a, b] = [matrix[at * size + p]!, matrix[at * size + q]!]
    matrix[at * size + p] = cosine * a - sine * b
    matrix[at * size + q] = sine * a + cosine * b
  }
  for (let at = 0; at < size; at++) {
    const [a, b] = [matrix[p * size + at]!, matrix[q * size + at]!]
    matrix[p * size + at] = cosine * a - sine * b
    matrix[q * size + at] = sine * a + cosine * b
    const [c, d] = [vectors[at * size + p]!, vectors[at * size + q]!]
    vectors[at * size + p] = cosine * c - sine * d
    vectors[at * size + q] = sine * c + cosine * d
  }
  return true
}
