/** The vector of a start page: terms with their counts, in few bytes that equal texts share. */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { BitWriter } from '../../../src/similar/text/bits.ts'
import {
  emptyTermVector,
  packTermVector,
  TERM_COUNT,
  type TermVector,
  termVectorOf,
  unpackTermVector,
  vectorDigest,
} from '../../../src/similar/text/term-vector.ts'
import { termsOf } from '../../../src/similar/text/terms.ts'

const bytesOf = (text: string): Uint8Array => packTermVector(termVectorOf(termsOf(text).counts))

/** Pairs of a term and its count. */
function pairsOf({ size, terms: words, counts }: TermVector): [number, number][] {
  return Array.from({ length: size }, (_, at) => [words[at]!, counts[at]!])
}

function vectorWith(pairs: readonly (readonly [number, number])[]): TermVector {
  const sorted = pairs.toSorted(([a], [b]) => a - b)
  const [words, counts] = [0, 1].map((place) => Uint32Array.from(sorted, (pair) => pair[place]!))
  return { size: pairs.length, terms: words!, counts: counts! }
}

const pairs = fc.uniqueArray(
  fc.tuple(
    fc.oneof(fc.nat(TERM_COUNT - 1), fc.nat(300)),
    fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 32_767 })),
  ),
  { selector: ([word]) => word, maxLength: 300 },
)

test('a vector is read as it was packed, into arrays that grow if necessary', () => {
  const into = emptyTermVector(1)
  fc.assert(
    fc.property(pairs, (all) => {
      const vector = vectorWith(all)
      unpackTermVector(packTermVector(vector), into)
      assert.deepEqual(pairsOf(into), pairsOf(vector))
    }),
    { numRuns: 300 },
  )
})

test('arrays that are long enough are kept, and bytes that claim more terms than they can hold get no room', () => {
  const vector = vectorWith([
    [1, 2],
    [3, 4],
  ])
  const exact = emptyTermVector(2)
  const { terms } = exact
  unpackTermVector(packTermVector(vector), exact)
  assert.equal(exact.terms, terms)
  for (const [claimed, isRoomMade] of [
    [40, true],
    [41, false],
  ] as const) {
    const writer = new BitWriter()
    writer.writeGamma(claimed + 1)
    const bytes = new Uint8Array(10)
    bytes.set(writer.take())
    const into = emptyTermVector(0)
    try {
      unpackTermVector(bytes, into)
    } catch (error) {
      assert.ok(error instanceof RangeError)
    }
    assert.equal(into.terms.length > 0, isRoomMade, `${claimed} terms`)
  }
})

test('pages without a word and of 20,000 words can be packed and unpacked, and a word takes about 2 bytes', () => {
  const into = emptyTermVector(0)
  unpackTermVector(packTermVector(emptyTermVector(0)), into)
  assert.equal(into.size, 0)
  const many = termVectorOf(Uint32Array.from({ length: 40_000 }, (_, at) => (at % 2 === 0 ? 107_000 * (at / 2) : 1)))
  const packed = packTermVector(many)
  unpackTermVector(packed, into)
  assert.deepEqual(pairsOf(into), pairsOf(many))
  assert.ok(many.size > 19_900 && packed.length < 2.2 * many.size, `${packed.length} bytes for ${many.size} words`)
})

test('the terms of a vector ascend, each once, and their counts are exact up to 32,767', () => {
  const hashes = fc.uniqueArray(fc.nat(2 ** 32 - 1), { maxLength: 200 }).map((all) => all.sort((a, b) => a - b))
  fc.assert(
    fc.property(hashes, fc.constantFrom(1, 2, 32_767, 32_768, 2 ** 32 - 1), (terms, times) => {
      const vector = termVectorOf(Uint32Array.from(terms.flatMap((hash) => [hash, times])))
      const words = pairsOf(vector).map(([word]) => word)
      assert.deepEqual(
        words,
        [...new Set(words)].sort((a, b) => a - b),
      )
      assert.ok(words.every((word) => word < TERM_COUNT))
      const counts = pairsOf(vector).reduce((sum, [, count]) => sum + count, 0)
      assert.equal(counts, terms.length * Math.min(times, 32_767))
    }),
  )
})

test('the numbers of terms and the packed bytes are those of every release', () => {
  const vector = termVectorOf(Uint32Array.of(1, 1, 2, 3, 0x12345678, 70_000, 0xffffffff, 2))
  assert.deepEqual(pairsOf(vector), [
    [12_833_548, 3],
    [21_313_698, 1],
    [34_063_804, 2],
    [59_634_502, 32_767],
  ])
  const packed = Buffer.from(packTermVector(vector))
  assert.equal(packed.toString('hex'), '2f0f4c31e059657c28d194c316c48001fffc')
  const digest = createHash('sha256').update(packed).digest('hex')
  assert.equal(vectorDigest(packed), Number.parseInt(digest.slice(0, 13), 16))
})

test('two hashes with the same number count as one term', () => {
  const seen = new Map<number, number>()
  for (let hash = 0; ; hash++) {
    const word = termVectorOf(Uint32Array.of(hash, 1)).terms[0]!
    const other = seen.get(word)
    seen.set(word, hash)
    if (other === undefined) continue
    assert.deepEqual(pairsOf(termVectorOf(Uint32Array.of(other, 3, hash, 4))), [[word, 7]])
    break
  }
})

test('texts with the same words and counts, in any order, give the same bytes, and others do not', () => {
  const words = fc.array(fc.constantFrom('one', 'two', 'Drei', 'четыре', '五', 'six'), { maxLength: 30 })
  fc.assert(
    fc.property(words, words, fc.infiniteStream(fc.nat(1000)), (output, other, dice) => {
      const shuffled = output.map((word) => [dice.next().value as number, word.toUpperCase()] as const)
      shuffled.sort(([a], [b]) => a - b)
      assert.deepEqual(bytesOf(output.join(' ')), bytesOf(shuffled.map(([, word]) => word).join(', ')))
      const same = output.toSorted().join(' ') === other.toSorted().join(' ')
      assert.equal(Buffer.compare(bytesOf(output.join(' ')), bytesOf(other.join(' '))) === 0, same)
    }),
  )
})

test('a digest is an integer of at most 52 bits, and distinguishes vectors', () => {
  const digests = Array.from({ length: 2000 }, (_, at) =>
    vectorDigest(packTermVector(termVectorOf(Uint32Array.of(at, 1)))),
  )
  assert.ok(digests.every((digest) => Number.isInteger(digest) && digest >= 0 && digest < 2 ** 52))
  assert.ok(digests.some((digest) => digest >= 2 ** 51))
  assert.equal(new Set(digests).size, digests.length)
})

test('damaged bytes end in an error or a wrong vector, quickly', () => {
  const into = emptyTermVector(16)
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      try {
        unpackTermVector(bytes, into)
      } catch (error) {
        assert.ok(error instanceof RangeError)
      }
      assert.ok(into.terms.length <= 16 * 60, 'room is made for what the bytes can hold')
    }),
    { numRuns: 2000, examples: [[new Uint8Array(60)], [Uint8Array.of(0, 0, 0, 0, 1, 255)]] },
  )
})
