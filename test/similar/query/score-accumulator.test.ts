/** Adding up scores and finding the highest. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { PostingBuffer } from '../../../src/similar/postings/postings.ts'
import { ScoreAccumulator, type ScoredPostings } from '../../../src/similar/query/score-accumulator.ts'
import { weightOfLevel } from '../../../src/similar/text/weights.ts'

/** Few documents and few scores, so that there are sums and ties. Eighths, so that sums are exact. */
const additions = fc.array(
  fc.tuple(
    fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 2 ** 48 })),
    fc.integer({ min: 1, max: 12 }).map((eighths) => eighths / 8),
  ),
  { maxLength: 120 },
)

const accumulator = new ScoreAccumulator()
/** The accumulator gets each score as a posting of this level. */
const LEVEL = 15
let added: (readonly [document: number, score: number])[] = []
const scores = { add: (document: number, score: number) => added.push([document, score]) }

function takeBest(limit: number): number[] {
  const postings: PostingBuffer = {
    size: added.length,
    documents: Float64Array.from(added, ([document]) => document),
    levels: new Uint8Array(added.length).fill(LEVEL),
  }
  const scored = added.map(
    ([, score], at): ScoredPostings => ({ from: at, end: at + 1, weight: score / weightOfLevel(LEVEL) }),
  )
  added = []
  return accumulator.topDocuments(postings, scored, limit)
}

test('the highest scores are those of a map, in order, and the next call starts without them', () => {
  fc.assert(
    fc.property(additions, fc.integer({ min: 1, max: 50 }), (all, limit) => {
      const sums = new Map<number, number>()
      for (const [document, score] of all) {
        scores.add(document, score)
        sums.set(document, (sums.get(document) ?? 0) + score)
      }
      const best = takeBest(limit)
      assert.equal(new Set(best).size, best.length)
      assert.deepEqual(
        best.map((document) => sums.get(document)),
        [...sums.values()].sort((a, b) => b - a).slice(0, limit),
      )
      assert.deepEqual(takeBest(limit), [])
    }),
    { numRuns: 300 },
  )
})

test('many equal scores do not displace a higher one', () => {
  for (const many of [10, 5000]) {
    for (let document = 1; document <= many; document++) scores.add(document, 1)
    scores.add(many + 1, 5)
    const best = takeBest(3)
    assert.deepEqual([best[0], best.length], [many + 1, 3])
  }
})

test('far more documents than cells leave the highest score first, and the next call starts without them', () => {
  const most = 2 ** 18
  for (let document = 1; document <= most + 1000; document++) scores.add(document, document === 1 ? 9 : 1)
  const best = takeBest(400)
  assert.deepEqual([best[0], best.length], [1, 400])
  scores.add(most + 1000, 1)
  assert.deepEqual(takeBest(5), [most + 1000])
})
