/** How rare each word is, in a table of fixed size. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Rarities } from '../../src/similar/rarities.ts'
import { WORDS } from '../../src/similar/vector.ts'
import { rarity } from '../../src/similar/weights.ts'

/** Words of one bucket begin with the same 20 bits, and a bucket keeps 8. */
const [BUCKET, KEPT] = [2 ** 6, 8]

function raritiesOf(all: number, pages: Iterable<readonly [word: number, pages: number]>): Rarities {
  const rarities = new Rarities()
  for (const [word, count] of pages) rarities.add(word, count)
  rarities.finish(all)
  return rarities
}

/** Relative to one another, within so much. */
function near(a: number, b: number, within: number): boolean {
  return Math.abs(a - b) <= within * Math.max(Math.abs(a), Math.abs(b))
}

test('while the table is not crowded, each word has its own count: exact to 256, and within a hundredth above', () => {
  const counts = fc.array(fc.oneof(fc.integer({ min: 1, max: 256 }), fc.integer({ min: 1, max: 100_000_000 })), {
    minLength: 1,
    maxLength: 100,
  })
  fc.assert(
    fc.property(counts, fc.nat(WORDS - 1), fc.nat(2 ** 28), (all, first, more) => {
      const pages = all.map((count, at) => [(first + at * 9_973) % WORDS, count] as const)
      const total = Math.max(...all) + more
      const rarities = raritiesOf(total, pages)
      assert.equal(rarities.wordings, total)
      for (const [word, count] of pages) {
        const told = rarities.pagesOf(word)
        assert.ok(count <= 256 ? told === count : near(told, count, 0.0101), `${told} for ${count}`)
        assert.ok(near(rarities.of(word), rarity(total, told), 1e-6))
      }
    }),
    { numRuns: 10 },
  )
})

test('a word that was never seen weighs as much as that of one page', () => {
  const rarities = raritiesOf(1000, [[5, 400]])
  for (const word of [0, 4, 6, 5 + BUCKET, WORDS - 1]) {
    assert.ok(near(rarities.of(word), Math.log(1001), 1e-6))
    assert.equal(rarities.pagesOf(word), 0)
  }
  assert.ok(near(raritiesOf(3, []).of(7), Math.log(4), 1e-6))
})

test('a crowded bucket keeps the most frequent words; those left out count as they do on the whole', () => {
  const counts = [9, 1, 30, 2, 20, 4, 70, 1, 8, 16, 2, 40]
  const rarities = raritiesOf(
    100,
    counts.map((count, at) => [3 * BUCKET + at, count] as const),
  )
  const kept = counts.toSorted((a, b) => b - a).slice(0, KEPT)
  const left = counts.toSorted((a, b) => b - a).slice(KEPT)
  const mean = left.reduce((sum, count) => sum + count, 0) / left.length
  for (const [at, count] of counts.entries()) {
    const told = kept.includes(count) ? count : mean
    assert.equal(rarities.pagesOf(3 * BUCKET + at), told, `${count}`)
    assert.ok(near(rarities.of(3 * BUCKET + at), rarity(100, told), 1e-6))
  }
})

test('words that all pages say weigh next to nothing, and the fewer pages say a word the more it weighs', () => {
  const all = 5_000_000
  const counts = [1, 2, 3, 10, 255, 256, 300, 1000, 70_000, 2_000_000, all]
  const rarities = raritiesOf(
    all,
    counts.map((count, at) => [at * 1_000_003, count] as const),
  )
  const weights = counts.map((_, at) => rarities.of(at * 1_000_003))
  for (const [at, weight] of weights.entries()) assert.ok(at === 0 || weight < weights[at - 1]!, `${counts[at]}`)
  assert.ok(weights[0]! > 15 && weights.at(-1)! >= 0 && weights.at(-1)! < 0.02)
})

test('the most frequent words have their own weight among very many rare ones', () => {
  const frequent = Array.from({ length: 500 }, (_, at) => [at * 131, 50 + at] as const)
  const once = Array.from({ length: 60_000 }, (_, at) => [1_000_000 + at * 977, 1] as const)
  const rarities = raritiesOf(10_000, [...frequent, ...once])
  for (const [word, pages] of frequent)
    assert.ok(near(rarities.of(word), rarity(10_000, rarities.pagesOf(word)), 1e-6), `${pages}`)
  assert.ok(once.every(([word]) => near(rarities.of(word), rarity(10_000, 1), 1e-6)))
})
