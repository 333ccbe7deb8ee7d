/** The weight of a term, and the levels of its share in a page. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { countWeight, idf, WEIGHT_LEVELS, weightLevelOf, weightOfLevel } from '../../../src/similar/text/weights.ts'

test('a term with count n weighs 1 + ln n', () => {
  for (const count of [1, 2, 3, 254, 255, 256, 257, 32_767, 2 ** 31])
    assert.ok(Math.abs(countWeight(count) - 1 - Math.log(count)) < 1e-12, `${count}`)
})

test('IDF is ln((all + 1) / pages): above 0 for a term of all pages, higher for rarer terms, never below 0', () => {
  assert.equal(idf(99, 1), Math.log(100))
  assert.ok(idf(1_000_000, 1_000_000) > 0 && idf(1_000_000, 1_000_000) < 2e-6)
  assert.equal(idf(10, 50), 0)
  assert.equal(idf(0, 1), 0)
})

test('the highest level stands for a share of 2 ** -3.8, the lowest for five octaves less', () => {
  assert.ok(Math.abs(weightOfLevel(15) - 2 ** -3.8) < 1e-12)
  assert.ok(Math.abs(weightOfLevel(0) - 2 ** -8.8) < 1e-12)
  assert.deepEqual([weightLevelOf(1), weightLevelOf(1e-6)], [15, 0])
})

test('a level is the one with the nearest share, and the highest has the highest share', () => {
  for (let level = 0; level < WEIGHT_LEVELS; level++) {
    assert.equal(weightLevelOf(weightOfLevel(level)), level)
    assert.equal(weightLevelOf(weightOfLevel(level) * 2 ** (0.99 / 6)), level)
    assert.equal(weightLevelOf(weightOfLevel(level) * 2 ** (-0.99 / 6)), level)
    if (level > 0) assert.ok(Math.abs(weightOfLevel(level) / weightOfLevel(level - 1) - 2 ** (1 / 3)) < 1e-12)
  }
  fc.assert(
    fc.property(
      fc.double({ min: 1e-9, max: 2, noNaN: true }),
      fc.double({ min: 1e-9, max: 2, noNaN: true }),
      (a, b) => {
        const level = weightLevelOf(a)
        assert.ok(Number.isInteger(level) && level >= 0 && level < WEIGHT_LEVELS)
        assert.ok(a >= b ? level >= weightLevelOf(b) : level <= weightLevelOf(b))
      },
    ),
  )
})
