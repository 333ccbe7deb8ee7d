/** The list of vectors of the similarity bench returns what was put into it, in any size of its pieces. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { VectorList } from '../../bench/similar/exact/vector-list.ts'

test('a vector is returned as it was pushed, also if it ends or opens a piece', () => {
  const vectors = fc.array(fc.array(fc.nat(), { maxLength: 7 }))
  fc.assert(
    fc.property(vectors, fc.integer({ min: 8, max: 20 }), (all, pieceEntries) => {
      const list = new VectorList(pieceEntries)
      for (const vector of all) list.push(Float64Array.from(vector))
      assert.equal(list.length, all.length)
      assert.deepEqual(
        [...list].map((vector) => [...vector]),
        all,
      )
      assert.deepEqual(
        all.map((_, index) => [...list.at(index)]),
        all,
      )
    }),
  )
})
