/** Document frequencies in rows. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  type DocumentFrequencies,
  emptyDocumentFrequencies,
  MAX_ROW_TERMS,
  packDocumentFrequencies,
  unpackDocumentFrequencies,
} from '../../../src/similar/postings/document-frequencies.ts'
import { TERM_COUNT } from '../../../src/similar/text/term-vector.ts'

type Pair = readonly [word: number, count: number]

const pairs = fc
  .uniqueArray(fc.tuple(fc.oneof(fc.nat(600), fc.nat(TERM_COUNT - 1)), fc.integer({ min: 1, max: 2 ** 31 - 1 })), {
    selector: ([word]) => word,
    minLength: 1,
    maxLength: MAX_ROW_TERMS,
    size: 'max',
  })
  .map((all): Pair[] => all.sort(([a], [b]) => a - b))

function frequenciesOf(all: readonly Pair[]): DocumentFrequencies {
  const into = emptyDocumentFrequencies(all.length)
  for (const [at, [word, count]] of all.entries()) {
    into.terms[at] = word
    into.counts[at] = count
  }
  return { ...into, size: all.length }
}

test('terms of a longer list are read as they were packed', () => {
  const into = emptyDocumentFrequencies(MAX_ROW_TERMS)
  fc.assert(
    fc.property(pairs, fc.nat(), fc.nat(), (all, one, other) => {
      const [from, last] = [one % all.length, other % all.length].sort((a, b) => a - b) as [number, number]
      unpackDocumentFrequencies(packDocumentFrequencies(frequenciesOf(all), from, last + 1), into)
      const read = Array.from({ length: into.size }, (_, at) => [into.terms[at], into.counts[at]])
      assert.deepEqual(read, all.slice(from, last + 1))
    }),
  )
})

test('damaged rows end in an error or wrong numbers, quickly and within the given memory', () => {
  const into = emptyDocumentFrequencies(MAX_ROW_TERMS)
  const flipped = fc.tuple(pairs, fc.nat(), fc.nat(7)).map(([all, at, bit]) => {
    const row = packDocumentFrequencies(frequenciesOf(all), 0, all.length)
    row[at % row.length]! ^= 1 << bit
    return row
  })
  fc.assert(
    fc.property(fc.oneof(flipped, fc.uint8Array({ maxLength: 90 })), (row) => {
      try {
        unpackDocumentFrequencies(row, into)
        assert.ok(into.size >= 1 && into.size <= MAX_ROW_TERMS, `${into.size}`)
      } catch (error) {
        assert.ok(error instanceof RangeError, String(error))
      }
    }),
    { numRuns: 500, examples: [[new Uint8Array(9)], [new Uint8Array(9).fill(255)]] },
  )
})
