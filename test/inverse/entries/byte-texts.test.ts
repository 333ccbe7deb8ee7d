/** The order and the numbers of distinct texts. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MAX_KEY_BYTES } from '../../../src/inverse/entries/block.ts'
import { ByteTexts } from '../../../src/inverse/entries/byte-texts.ts'

const letters = fc.constantFrom(0, 1, 97, 98, 255)
/** Texts of which many are the beginning of others, so that the order depends on their ends. */
const oneText = fc
  .tuple(
    fc.constantFrom('', 'k', 'kk\x00', `k${'long '.repeat(8)}`),
    fc.array(letters, { maxLength: 6 }).map((codes) => String.fromCharCode(...codes)),
  )
  .map((parts) => parts.join(''))

/** Adds each text twice, and expects one number for both. */
function textsOf(given: readonly string[]): ByteTexts {
  const texts = new ByteTexts()
  const numbers = [0, 1].map(() =>
    given.map((each) => {
      texts.text(each)
      return texts.number()
    }),
  )
  assert.deepEqual(numbers[1], numbers[0])
  assert.equal(texts.count, new Set(given).size)
  return texts
}

function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a, 'latin1'), Buffer.from(b, 'latin1'))
}

function requireRanks(given: readonly string[]): void {
  const distinct = [...new Set(given)]
  const ranks = textsOf(given).ranks()
  const inOrder: string[] = []
  for (const [number, each] of distinct.entries()) inOrder[ranks[number]!] = each
  assert.deepEqual(inOrder, distinct.toSorted(compareBytes))
}

test('texts get one number each, and the ranks of the order of their bytes', () => {
  fc.assert(
    fc.property(fc.array(oneText, { maxLength: 60, size: 'max' }), (given) => requireRanks(given)),
    { numRuns: 300 },
  )
})

test('a text that is too long is refused, and leaves the others as they are', () => {
  const texts = textsOf(['a', 'b'])
  for (const end of ['number', 'add'] as const) {
    texts.text('x'.repeat(MAX_KEY_BYTES + 1))
    assert.throws(() => texts[end](), /too long/)
  }
  texts.text('b')
  assert.equal(texts.number(), 1)
  texts.text('c')
  assert.equal(texts.number(), 2)
})

test('thousands of texts are in order too: of one kind or of many, long or short, and one the beginning of another', () => {
  let seed = 1
  const random = (below: number): number => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  const tail = (longest: number, letterCount: number): string =>
    Array.from({ length: random(longest + 1) }, () => String.fromCharCode(random(letterCount))).join('')
  for (const kinds of [1, 5])
    for (const letterCount of [2, 256])
      requireRanks(Array.from({ length: 40_000 }, () => String.fromCharCode(random(kinds)) + tail(20, letterCount)))
  requireRanks(Array.from({ length: 20_000 }, (_, index) => `k${'same '.repeat(20)}${index}`))
})
