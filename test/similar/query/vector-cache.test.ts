/** The cache of vectors: whatever it has overwritten, a vector is that of the document. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { COUNT_BITS, MAX_COUNT, VectorCache, type VectorRange } from '../../../src/similar/query/vector-cache.ts'
import { TERM_COUNT, type TermVector } from '../../../src/similar/text/term-vector.ts'

const CAPACITY = 256

/** The highest count that an entry has room for, the lowest one that it has none for, and the highest that is stored. */
const EDGE_COUNTS = [MAX_COUNT, MAX_COUNT + 1, 2 ** 32 - 1]

/** Document n has n + 1 terms. */
function vectorOfDocument(document: number): TermVector {
  const size = document + 1
  return {
    size,
    terms: Uint32Array.from({ length: size + 2 }, (_, at) => TERM_COUNT - 1 - document * 1000 + at),
    counts: Uint32Array.from({ length: size + 2 }, (_, at) => EDGE_COUNTS[(document + at) % 9] ?? (document + at) % 9),
  }
}

/** The terms of a vector with their counts, in the order of the terms. */
function pairsOf({ entries, from, end, largeEnd }: VectorRange): [number, number][] {
  const small = Array.from(
    entries.subarray(from, end),
    (entry) => [entry >>> COUNT_BITS, entry & MAX_COUNT] as [number, number],
  )
  const large = Array.from({ length: (largeEnd - end) / 2 }, (_, at): [number, number] => [
    entries[end + 2 * at]!,
    entries[end + 2 * at + 1]! >>> 0,
  ])
  return [...small, ...large].sort(([one], [other]) => one - other)
}

function expectedOf(document: number): [number, number][] {
  const { size, terms, counts } = vectorOfDocument(document)
  return Array.from({ length: size }, (_, at) => [terms[at]!, counts[at]!])
}

test('a found vector is that of its document, after any overwriting, collisions and removals', () => {
  const document = fc.nat({ max: 60 })
  const step = fc.record({ document, act: fc.constantFrom('use', 'use', 'use', 'delete') })
  let [found, overwritten] = [0, 0]
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 80, size: 'max' }), (steps) => {
      const cache = new VectorCache(CAPACITY)
      const added = new Set<number>()
      for (const { document, act } of steps) {
        const cached = cache.find(document)
        if (cached !== null) {
          found++
          assert.ok(added.has(document))
          assert.deepEqual(pairsOf(cached), expectedOf(document))
        } else if (added.has(document)) overwritten++
        if (act === 'delete') {
          cache.delete(document)
          added.delete(document)
          assert.equal(cache.find(document), null)
        } else if (cached === null) {
          assert.deepEqual(pairsOf(cache.add(document, vectorOfDocument(document))), expectedOf(document))
          assert.deepEqual(pairsOf(cache.find(document)!), expectedOf(document))
          added.add(document)
        }
      }
    }),
  )
  assert.ok(found > 100 && overwritten > 100, `${found} found, ${overwritten} overwritten`)
})

test('a vector that fills the cache is found, and a longer one is rejected', () => {
  const cache = new VectorCache(CAPACITY)
  const filling = (large: number): TermVector => ({
    size: CAPACITY - 1,
    terms: Uint32Array.from({ length: CAPACITY }, (_, at) => at),
    counts: Uint32Array.from({ length: CAPACITY }, (_, at) => (at < large ? MAX_COUNT + 1 : 1)),
  })
  const expected = Array.from({ length: CAPACITY - 1 }, (_, at) => [at, at === 0 ? MAX_COUNT + 1 : 1])
  assert.deepEqual(pairsOf(cache.add(7, filling(1))), expected)
  assert.throws(() => cache.add(8, filling(2)), RangeError)
  assert.deepEqual(pairsOf(cache.find(7)!), expected)
})
