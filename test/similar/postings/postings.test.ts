/** Postings in rows, from which the documents of a term are read. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  MAX_ROW_POSTINGS,
  type PostingBuffer,
  type PostingGroup,
  packPostingRow,
  postingKeyOf,
  readPostingsOfTerm,
  termOfKey,
  unpackPostingRow,
} from '../../../src/similar/postings/postings.ts'
import { TERM_COUNT } from '../../../src/similar/text/term-vector.ts'
import { WEIGHT_LEVELS } from '../../../src/similar/text/weights.ts'

type Plain = { place: number; wordings: number[] }

const plainOf = (groups: readonly PostingGroup[]): Plain[] =>
  groups.map(({ key: place, documents: wordings }) => ({ place, wordings: [...wordings] }))
const groupsOf = (groups: readonly Plain[]): PostingGroup[] =>
  groups.map(({ place, wordings }) => ({ key: place, documents: Float64Array.from(wordings) }))

const document = fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 2 ** 48 - 1 }))
const word = fc.oneof(fc.nat(20), fc.nat(TERM_COUNT - 1))

/** The groups of a row: keys ascending, documents ascending, at most as many documents as a row may have. */
const row = fc
  .array(fc.tuple(word, fc.nat(WEIGHT_LEVELS - 1), fc.uniqueArray(document, { minLength: 1, maxLength: 40 })), {
    minLength: 1,
  })
  .map((all) => {
    const byPlace = new Map(all.map(([word, level, wordings]) => [postingKeyOf(word, level), wordings]))
    let left = MAX_ROW_POSTINGS
    return [...byPlace]
      .sort(([a], [b]) => a - b)
      .flatMap(([place, wordings]) => {
        const kept = wordings.slice(0, left).sort((a, b) => a - b)
        left -= kept.length
        return kept.length > 0 ? [{ place, wordings: kept }] : []
      })
  })
const rows = fc.array(row, { minLength: 1, maxLength: 6 })

function roomFor(size: number): PostingBuffer {
  return { size: 0, documents: new Float64Array(size), levels: new Uint8Array(size) }
}

const postingsOf = ({ size, documents: wordings, levels }: PostingBuffer) =>
  Array.from({ length: size }, (_, at) => ({ document: wordings[at], level: levels[at] }))

test('the levels of a term follow one another, the highest first, before those of the next term', () => {
  fc.assert(
    fc.property(fc.nat(TERM_COUNT - 2), (word) => {
      const places = Array.from({ length: WEIGHT_LEVELS }, (_, at) => postingKeyOf(word, WEIGHT_LEVELS - 1 - at))
      assert.deepEqual(
        places,
        places.map((_, at) => places[0]! + at),
      )
      assert.equal(places.at(-1)! + 1, postingKeyOf(word + 1, WEIGHT_LEVELS - 1))
      assert.ok(places.every((place) => termOfKey(place) === word && place < 2 ** 30))
    }),
  )
})

test('a row is read as it was packed', () => {
  fc.assert(
    fc.property(row, (groups) => {
      assert.deepEqual(plainOf(unpackPostingRow(packPostingRow(groupsOf(groups)))), groups)
    }),
    { numRuns: 300 },
  )
})

test('of consecutive rows, exactly the postings of the term are found', () => {
  fc.assert(
    fc.property(rows, fc.nat(), (all, chosen) => {
      const groups = all.flat()
      const word = termOfKey(groups[chosen % groups.length]!.place) + (chosen % 7 === 0 ? 1 : 0)
      const found = roomFor(all.length * MAX_ROW_POSTINGS)
      readPostingsOfTerm(Buffer.concat(all.map((row) => packPostingRow(groupsOf(row)))), word, found)
      const expected = groups
        .filter(({ place }) => termOfKey(place) === word)
        .flatMap(({ place, wordings }) =>
          wordings.map((document) => ({ document, level: WEIGHT_LEVELS - 1 - (place % WEIGHT_LEVELS) })),
        )
      assert.deepEqual(postingsOf(found), expected)
    }),
    { numRuns: 300 },
  )
})

test('a read stops when the buffer is full, and keeps earlier postings', () => {
  fc.assert(
    fc.property(row, fc.nat(MAX_ROW_POSTINGS), (groups, room) => {
      const found = roomFor(room + 1)
      found.documents[0] = 77
      found.size = 1
      const { place, wordings } = groups[0]!
      readPostingsOfTerm(packPostingRow(groupsOf(groups)), termOfKey(place), found)
      assert.equal(found.documents[0], 77)
      assert.equal(found.documents.length, room + 1)
      assert.ok(found.size <= room + 1)
      if (wordings.length <= room) assert.deepEqual([...found.documents.subarray(1, wordings.length + 1)], wordings)
    }),
  )
})

test('in a full row of one term, each takes about 15 bits if every 8,191st page contains the term', () => {
  const wordings = Float64Array.from({ length: MAX_ROW_POSTINGS }, (_, at) => 1 + at * 8191)
  assert.ok(packPostingRow([{ key: postingKeyOf(5, 9), documents: wordings }]).length < MAX_ROW_POSTINGS * 2)
})

/** Rows with changed and missing bytes. */
const damaged = fc
  .tuple(rows, fc.array(fc.tuple(fc.nat(), fc.nat(7)), { maxLength: 6 }), fc.double({ min: 0, max: 1, noNaN: true }))
  .map(([all, flips, part]) => {
    const bytes = Buffer.concat(all.map((row) => packPostingRow(groupsOf(row))))
    for (const [at, bit] of flips) bytes[at % bytes.length]! ^= 1 << bit
    return bytes.subarray(0, Math.ceil(part * bytes.length))
  })

test('damaged rows end in an error or wrong numbers, quickly and with little memory', () => {
  fc.assert(
    fc.property(fc.oneof(damaged, fc.uint8Array({ maxLength: 200 })), fc.nat(20), (bytes, word) => {
      const found = roomFor(200)
      let most = 0
      try {
        readPostingsOfTerm(bytes, word, found)
        for (const { documents: wordings } of unpackPostingRow(bytes)) most += wordings.length
      } catch (error) {
        assert.ok(error instanceof RangeError, String(error))
      }
      assert.ok(found.size <= 200 && most <= 256)
    }),
    { numRuns: 3000, examples: [[new Uint8Array(200), 1]] },
  )
})
