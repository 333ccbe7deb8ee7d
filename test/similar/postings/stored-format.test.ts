/** Stored formats: every later release reads them, so these bytes never change. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { packDocumentFrequencies } from '../../../src/similar/postings/document-frequencies.ts'
import { packPostingRow, postingKeyOf } from '../../../src/similar/postings/postings.ts'
import { packTermVector, termVectorOf, vectorDigest } from '../../../src/similar/text/term-vector.ts'
import { termsOf } from '../../../src/similar/text/terms.ts'

/** Of each text: digest, terms in hexadecimal with their counts, packed vector, digest of the vector. */
const TEXTS: [text: string, digest: string, terms: string, vector: string, key: number][] = [
  [
    'The cat and the dog',
    'b11077596d03c837dbf33fe2e800f879',
    '6745c07 1 f29c2a6 1 b40eb21c 2 e668bd09 1',
    '2a6ebb7943d1d67cd78105ac5a1280',
    997303203276369,
  ],
  [
    'Ёлка и ёлка: све́т',
    '20f2cf3c601b8a8c47142e4516190530',
    '36673702 1 3d066947 1 59cb5ee7 2',
    '2583a3beeb8f0f58b3ac14',
    3867434883570508,
  ],
  [
    'ภาษาไทยง่าย',
    'ed0848786c039a237105ff0f5e6d8794',
    '81ff798 1 892b5b2a 1 fa9e7d9e 1',
    '23d8a0e34b9783f95e1278',
    1199607565064565,
  ],
  [
    '我们在北京 北京',
    '908f55c158b5a0200b3bb9ff3ecff616',
    '1d72894e 2 2d537317 1 d2d299f0 1',
    '23357c0362521abafb3334',
    309873626623475,
  ],
  [
    'مرحبا بالعالم مرحبا',
    '6a31b8b5e0037d0039fc2598f820ff30',
    '6c44f813 1 be020bf3 2',
    '72bf48857219e420',
    904569500054156,
  ],
  ['... !', '35d184208dfac95d47a5ffc855af043c', '', '80', 2088972052910087],
]

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

test('the terms and the vector of a text in any script', () => {
  for (const [text, ...expected] of TEXTS) {
    const { digest, counts } = termsOf(text)
    const terms = Array.from(counts, (number, at) => number.toString(at % 2 === 0 ? 16 : 10)).join(' ')
    const packed = packTermVector(termVectorOf(counts))
    assert.deepEqual([digest, terms, hexOf(packed), vectorDigest(packed)], expected, text)
  }
})

test('a row of postings', () => {
  const row = packPostingRow([
    { key: postingKeyOf(5, 15), documents: Float64Array.of(7, 1_000_000) },
    { key: postingKeyOf(5, 3), documents: Float64Array.of(8) },
    { key: postingKeyOf(90_000, 9), documents: Float64Array.of(1, 2, 2 ** 33) },
  ])
  assert.equal(hexOf(row), '002d0500000000000184e0000017d40000001a001e84701980000001e0bf152e00000002000000007ffffffe80')
})

test('a row of frequencies', () => {
  const [words, counts] = [Uint32Array.of(3, 4, 70_000, 2 ** 26 - 1), Uint32Array.of(1, 300, 2, 4096)]
  assert.equal(
    hexOf(packDocumentFrequencies({ size: 4, terms: words, counts }, 0, 4)),
    '012e000001e00000002590222d6807f77470004000',
  )
})
