/** Document frequencies in a table of bounded size. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { DocumentFrequencyHistogram, IdfTable } from '../../../src/similar/query/idf-table.ts'
import { TERM_COUNT } from '../../../src/similar/text/term-vector.ts'
import { idf } from '../../../src/similar/text/weights.ts'
import { FACTOR, idfTableOf } from '../sample-documents.ts'

/** Whether two numbers are within a relative difference. */
function near(a: number, b: number, within: number): boolean {
  return Math.abs(a - b) <= within * Math.max(Math.abs(a), Math.abs(b))
}

test('in a table with free slots, each term has its own count: exact up to 2,048, and within 3 thousandths above', () => {
  const count = fc.oneof(fc.integer({ min: 1, max: 2048 }), fc.integer({ min: 1, max: 50_000_000 }))
  const counts = fc.array(count, { minLength: 1, maxLength: 300 })
  const step = fc.constantFrom(1, 2, 64, 1024, 2 ** 16, 9_973)
  fc.assert(
    fc.property(counts, fc.nat(TERM_COUNT - 1), step, fc.nat(2 ** 28), (all, first, step, more) => {
      const pages = all.map((count, at) => [(first + at * step) % TERM_COUNT, count] as const)
      const total = Math.max(...all) + more
      const idfTable = idfTableOf(total, pages)
      assert.equal(idfTable.documents, total)
      for (const [word, count] of pages) {
        const reported = idfTable.documentFrequencyOf(word)
        assert.ok(count <= 2048 ? reported === count : near(reported, count, 0.003), `${reported} for ${count}`)
        assert.ok(near(idfTable.idfOf(word), idf(total, reported), 1e-6))
      }
    }),
    { numRuns: 50 },
  )
})

test('an unknown term counts as one of a single page', () => {
  const idfTable = idfTableOf(1000, [
    [5, 400],
    [9, 1],
  ])
  for (const word of [0, 4, 6, 9, 69, TERM_COUNT - 1]) {
    assert.ok(near(idfTable.idfOf(word), Math.log(1001), 1e-6))
    assert.equal(idfTable.documentFrequencyOf(word), 1)
  }
  assert.ok(near(idfTableOf(3, []).idfOf(7), Math.log(4), 1e-6))
  assert.equal(idfTableOf(0, []).idfOf(7), 0)
})

test('a full table keeps the most frequent terms, and the others have their average frequency', () => {
  const [once, twice, often] = [1_000_000, 2_500_000, 1_500_000]
  const all = once + twice + often
  const countOf = (at: number) => (at < once ? 1 : at < once + twice ? 2 : 7)
  const histogram = new DocumentFrequencyHistogram()
  for (let at = 0; at < all; at++) histogram.add(countOf(at))
  const idfTable = new IdfTable(1_000_000, histogram, FACTOR)
  for (let at = 0; at < all; at++) idfTable.add(at * 13, countOf(at))
  const mean = (once + 2 * twice) / (once + twice)
  for (let at = 0; at < all; at += 10_007) {
    const reported = at < once + twice ? mean : 7
    assert.ok(near(idfTable.documentFrequencyOf(at * 13), reported, 1e-9), `${countOf(at)}`)
    assert.ok(near(idfTable.idfOf(at * 13), idf(1_000_000, reported), 1e-6))
  }
  assert.equal(idfTable.documentFrequencyOf(all * 13), mean, 'and so does one that was never seen')
})

test('terms of all pages weigh almost nothing, and rarer terms weigh more', () => {
  const all = 5_000_000
  const counts = [1, 2, 3, 10, 2047, 2048, 2100, 3000, 10_000, 70_000, 2_000_000, all]
  const idfTable = idfTableOf(
    all,
    counts.map((count, at) => [at * 1_000_003, count] as const),
  )
  const weights = counts.map((_, at) => idfTable.idfOf(at * 1_000_003))
  for (const [at, weight] of weights.entries()) assert.ok(at === 0 || weight < weights[at - 1]!, `${counts[at]}`)
  assert.ok(weights[0]! > 15 && weights.at(-1)! >= 0 && weights.at(-1)! < 0.01)
})
