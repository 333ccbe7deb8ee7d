/** The truncated singular value decomposition of the bench finds the vectors that a matrix was made of. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rightSingularVectors, type SparseRows } from '../../bench/similar/topic-space.ts'
import { type RandomSource, seededRandom } from '../../bench/world/random.ts'

const [ROWS, WIDTH] = [40, 30]

for (const singularValues of [
  [9, 5, 3],
  [9, 5, 3, 1, 0.5, 0.2],
]) {
  test(`the first three right singular vectors of a matrix of rank ${singularValues.length}`, () => {
    const random = seededRandom(1, singularValues.length, 3)
    const left = orthonormalVectors(random, singularValues.length, ROWS)
    const right = orthonormalVectors(random, singularValues.length, WIDTH)
    const basis = rightSingularVectors(matrixOf(left, singularValues, right), 3, seededRandom(2, 1, 1))
    for (let column = 0; column < 3; column++)
      assert.ok(Math.abs(Math.abs(dot(columnOf(basis, column), right[column]!)) - 1) < 1e-6, `column ${column}`)
  })
}

test('columns beyond the rank are 0', () => {
  const random = seededRandom(1, 1, 3)
  const matrix = matrixOf(orthonormalVectors(random, 2, ROWS), [4, 2], orthonormalVectors(random, 2, WIDTH))
  const basis = rightSingularVectors(matrix, 3, seededRandom(2, 1, 1))
  assert.ok(columnOf(basis, 2).every((value) => Math.abs(value) < 1e-6))
})

test('the same seed gives the same vectors', () => {
  const random = seededRandom(1, 2, 3)
  const matrix = matrixOf(orthonormalVectors(random, 4, ROWS), [4, 3, 2, 1], orthonormalVectors(random, 4, WIDTH))
  const [once, again] = [1, 1].map((seed) => rightSingularVectors(matrix, 3, seededRandom(seed, 1, 1)))
  assert.deepEqual(once, again)
})

/** Gram-Schmidt. */
function orthonormalVectors(random: RandomSource, count: number, size: number): number[][] {
  const vectors: number[][] = []
  while (vectors.length < count) {
    let vector = Array.from({ length: size }, () => random() - 0.5)
    for (const other of vectors) {
      const share = dot(vector, other)
      vector = vector.map((value, at) => value - share * other[at]!)
    }
    const length = Math.hypot(...vector)
    vectors.push(vector.map((value) => value / length))
  }
  return vectors
}

function matrixOf(left: number[][], singularValues: readonly number[], right: number[][]): SparseRows {
  const values = Float32Array.from({ length: ROWS * WIDTH }, (_, entry) =>
    singularValues.reduce(
      (sum, value, at) => sum + value * left[at]![Math.floor(entry / WIDTH)]! * right[at]![entry % WIDTH]!,
      0,
    ),
  )
  return {
    width: WIDTH,
    starts: Uint32Array.from({ length: ROWS + 1 }, (_, row) => row * WIDTH),
    columns: Uint32Array.from({ length: ROWS * WIDTH }, (_, entry) => entry % WIDTH),
    values,
  }
}

function columnOf(basis: Float64Array, column: number): number[] {
  return Array.from({ length: WIDTH }, (_, row) => basis[row * 3 + column]!)
}

function dot(one: readonly number[], other: readonly number[]): number {
  return one.reduce((sum, value, at) => sum + value * other[at]!, 0)
}
