/** Cosines of two weighted vectors. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { seededRandom } from '../../../bench/world/random.ts'
import { dotProduct, vectorLength, weightDocument } from '../../../src/similar/query/cosine.ts'
import { emptyTermVector, TERM_COUNT, type TermVector } from '../../../src/similar/text/term-vector.ts'
import { idfTableOf, rangeOf } from '../sample-documents.ts'

const TOTAL = 1000
/** Terms that collide in a table by their lowest bits, and the first and the last possible term. */
const SOME = [0, 1, 2, 3, 5, 1024, 2048, 4096, 65_536, 2 ** 20, 2 ** 20 + 1024, 2 ** 25, TERM_COUNT - 1]
const idfTable = idfTableOf(
  TOTAL,
  SOME.map((word, at) => [word, 1 + at ** 2] as const),
)
const weightOf = new Map(SOME.map((word, at) => [word, Math.log((TOTAL + 1) / (1 + at ** 2))]))

const output = fc
  .uniqueArray(
    fc.tuple(fc.constantFrom(...SOME), fc.oneof(fc.integer({ min: 1, max: 400 }), fc.constant(2 ** 32 - 1))),
    { selector: ([word]) => word },
  )
  .map((pairs) => new Map(pairs))

/** A vector whose arrays are longer and end with random numbers. */
function vectorOf(page: Map<number, number>): TermVector {
  const into = emptyTermVector(page.size + 3)
  into.terms.fill(5)
  into.counts.fill(9)
  into.terms.set([...page.keys()].sort((a, b) => a - b))
  into.counts.set([...page].sort(([a], [b]) => a - b).map(([, count]) => count))
  return { ...into, size: page.size }
}

const weighed = (page: Map<number, number>) =>
  new Map([...page].map(([word, count]) => [word, (1 + Math.log(count)) * weightOf.get(word)!]))
const sum = (numbers: Iterable<number>) => [...numbers].reduce((all, number) => all + number, 0)
const close = (a: number, b: number) => Math.abs(a - b) <= 1e-6 * Math.max(1, Math.abs(b))

test('dot products and lengths are those of maps of terms', () => {
  fc.assert(
    fc.property(output, output, (one, other) => {
      const [page, candidate] = [weightDocument(vectorOf(one), idfTable), rangeOf(vectorOf(other))]
      const [ones, others] = [weighed(one), weighed(other)]
      assert.ok(
        close(dotProduct(page, candidate), sum([...ones].map(([word, weight]) => weight * (others.get(word) ?? 0)))),
      )
      for (const [weights, length] of [
        [ones, page.length],
        [others, vectorLength(candidate, idfTable)],
      ] as const)
        assert.ok(close(length, Math.hypot(...weights.values())), `${length}`)
    }),
    { numRuns: 300 },
  )
})

test('the dot product with itself is the square of the length', () => {
  fc.assert(
    fc.property(output, (one) => {
      const page = weightDocument(vectorOf(one), idfTable)
      assert.ok(close(dotProduct(page, rangeOf(vectorOf(one))), page.length ** 2))
    }),
  )
})

test('so it is whatever the terms, in every place of the table', () => {
  const terms = fc.uniqueArray(fc.nat(TERM_COUNT - 1), { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(terms, (some) => {
      const table = idfTableOf(
        TOTAL,
        some.map((term) => [term, 2] as const),
      )
      const vector = vectorOf(new Map(some.map((term, at) => [term, 1 + 12 * at])))
      const page = weightDocument(vector, table)
      assert.ok(close(dotProduct(page, rangeOf(vector)), page.length ** 2))
    }),
    { numRuns: 500 },
  )
})

test('a table of terms stays small, however the terms were chosen', () => {
  const page = new Map(Array.from({ length: 60 }, (_, at) => [at * 2 ** 20, 1]))
  const { terms: words, factors } = weightDocument(vectorOf(page), idfTable).termTable
  assert.ok(words.length + factors.length < 100 * page.size, `${words.length} places for ${page.size} words`)
})

test('most terms are in one of their two slots of the table', () => {
  const random = seededRandom(1, 2, 3)
  const terms = new Set(Array.from({ length: 2_000 }, () => Math.floor(random() * TERM_COUNT)))
  const { overflow } = weightDocument(vectorOf(new Map([...terms].map((term) => [term, 1]))), idfTable).termTable
  assert.ok(overflow.length < 0.03 * terms.size, `${overflow.length} of ${terms.size}`)
})
