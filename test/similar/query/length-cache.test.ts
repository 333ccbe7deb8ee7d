/** The cache of vector lengths: whatever it has replaced, a length is that of the document under the current table. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { vectorLength } from '../../../src/similar/query/cosine.ts'
import { LengthCache } from '../../../src/similar/query/similarity-service.ts'
import type { VectorRange } from '../../../src/similar/query/vector-cache.ts'
import { idfTableOf, rangeOf } from '../sample-documents.ts'

const CAPACITY = 4
const TABLES = [
  idfTableOf(100, [
    [1, 50],
    [2, 3],
  ]),
  idfTableOf(200, [
    [1, 7],
    [2, 190],
  ]),
]

/** Document n contains one term n times and another once. */
function vectorOfDocument(document: number): VectorRange {
  return rangeOf({ size: 2, terms: Uint32Array.of(1, 2), counts: Uint32Array.of(document + 1, 1) })
}

test('a cached length equals the computed one, after collisions and after a change of the table', () => {
  const document = fc.nat({ max: 3 * CAPACITY })
  fc.assert(
    fc.property(fc.array(fc.tuple(document, fc.nat({ max: 1 })), { minLength: 1, maxLength: 60 }), (queries) => {
      const cache = new LengthCache(CAPACITY)
      for (const [number, table] of queries) {
        const [vector, idfTable] = [vectorOfDocument(number), TABLES[table]!]
        assert.equal(cache.lengthOf(number, vector, idfTable), vectorLength(vector, idfTable))
      }
    }),
  )
})

test('a length is computed once while the table stays the same', () => {
  const cache = new LengthCache(CAPACITY)
  const expected = cache.lengthOf(7, vectorOfDocument(7), TABLES[0]!)
  assert.equal(cache.lengthOf(7, vectorOfDocument(1), TABLES[0]!), expected)
  assert.notEqual(cache.lengthOf(7, vectorOfDocument(1), TABLES[1]!), expected)
})
