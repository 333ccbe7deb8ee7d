/** Frequencies in rows: how many wordings have each word. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  emptyFrequencies,
  type Frequencies,
  packFrequencies,
  ROW_WORDS,
  unpackFrequencies,
} from '../../src/similar/frequencies.ts'
import { WORDS } from '../../src/similar/vector.ts'

type Pair = readonly [word: number, count: number]

const pairs = fc
  .uniqueArray(fc.tuple(fc.oneof(fc.nat(600), fc.nat(WORDS - 1)), fc.integer({ min: 1, max: 2 ** 31 - 1 })), {
    selector: ([word]) => word,
    minLength: 1,
    maxLength: ROW_WORDS,
    size: 'max',
  })
  .map((all): Pair[] => all.sort(([a], [b]) => a - b))

function frequenciesOf(all: readonly Pair[]): Frequencies {
  const into = emptyFrequencies(all.length)
  for (const [at, [word, count]] of all.entries()) {
    into.words[at] = word
    into.counts[at] = count
  }
  return { ...into, size: all.length }
}

test('any words of a longer list are read as they were packed', () => {
  const into = emptyFrequencies(ROW_WORDS)
  fc.assert(
    fc.property(pairs, fc.nat(), fc.nat(), (all, one, other) => {
      const [from, last] = [one % all.length, other % all.length].sort((a, b) => a - b) as [number, number]
      unpackFrequencies(packFrequencies(frequenciesOf(all), from, last + 1), into)
      const read = Array.from({ length: into.size }, (_, at) => [into.words[at], into.counts[at]])
      assert.deepEqual(read, all.slice(from, last + 1))
    }),
  )
})

test('damaged rows end in an error or wrong numbers, soon and in the room given', () => {
  const into = emptyFrequencies(ROW_WORDS)
  const flipped = fc.tuple(pairs, fc.nat(), fc.nat(7)).map(([all, at, bit]) => {
    const row = packFrequencies(frequenciesOf(all), 0, all.length)
    row[at % row.length]! ^= 1 << bit
    return row
  })
  fc.assert(
    fc.property(fc.oneof(flipped, fc.uint8Array({ maxLength: 90 })), (row) => {
      try {
        unpackFrequencies(row, into)
        assert.ok(into.size >= 1 && into.size <= ROW_WORDS, `${into.size}`)
      } catch (error) {
        assert.ok(error instanceof RangeError, String(error))
      }
    }),
    { numRuns: 500, examples: [[new Uint8Array(9)], [new Uint8Array(9).fill(255)]] },
  )
})
