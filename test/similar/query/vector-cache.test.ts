/** The cache of vectors: whatever it has overwritten, a vector is that of the document. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { VectorCache, type VectorRange } from '../../../src/similar/query/vector-cache.ts'
import type { TermVector } from '../../../src/similar/text/term-vector.ts'

const CAPACITY = 256

/** Document n has n + 1 terms. */
function vectorOfDocument(document: number): TermVector {
  const size = document + 1
  return {
    size,
    terms: Uint32Array.from({ length: size + 2 }, (_, at) => document * 1000 + at),
    counts: Uint32Array.from({ length: size + 2 }, (_, at) => 1 + ((document + at) % 9)),
  }
}

function pairsOf({ terms, counts, from, end }: VectorRange): [number, number][] {
  return Array.from({ length: end - from }, (_, at) => [terms[from + at]!, counts[from + at]!])
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

test('a vector that fills the cache is found, a longer one is rejected, and counts end at 65,535', () => {
  const cache = new VectorCache(CAPACITY)
  assert.deepEqual(pairsOf(cache.add(CAPACITY - 1, vectorOfDocument(CAPACITY - 1))), expectedOf(CAPACITY - 1))
  assert.throws(() => cache.add(CAPACITY, vectorOfDocument(CAPACITY)), RangeError)
  assert.deepEqual(pairsOf(cache.find(CAPACITY - 1)!), expectedOf(CAPACITY - 1))
  const large = { size: 1, terms: Uint32Array.of(3), counts: Uint32Array.of(98_301) }
  assert.deepEqual(pairsOf(cache.add(1, large)), [[3, 65_535]])
})
