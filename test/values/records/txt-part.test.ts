// Tests TXT character strings: the text of any bytes, and the canonical text of a given text.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { canonicalTxtPart, encodeTxtPart } from '../../../src/values/records/txt-part.ts'

const bytes = (...given: (string | number)[]) =>
  Buffer.concat(given.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : Buffer.of(piece))))

test('a part is decoded as UTF-8, and invalid bytes and control characters are written as \\DDD', () => {
  assert.equal(encodeTxtPart(bytes('v=spf1 -all')), 'v=spf1 -all')
  assert.equal(encodeTxtPart(bytes('grüße 😀 "q"')), 'grüße 😀 "q"')
  assert.equal(encodeTxtPart(bytes('\ufeffa\u0085')), '\ufeffa\u0085')
  assert.equal(encodeTxtPart(bytes('a\\b')), 'a\\\\b')
  assert.equal(encodeTxtPart(bytes(0, 9, 0x1f, ' ', 0x7f)), '\\000\\009\\031 \\127')
  assert.equal(encodeTxtPart(bytes(0xff, 'a', 0xc3, 'b', 0xe2, 0x82)), '\\255a\\195b\\226\\130')
  assert.equal(encodeTxtPart(bytes(0xc0, 0x80, 0xed, 0xa0, 0x80)), '\\192\\128\\237\\160\\128')
  assert.equal(encodeTxtPart(bytes('x', 0xc3)), 'x\\195')
})

test('different bytes have different texts, and the text is canonical', () => {
  const piece = fc.constantFrom('a', '\\', '0', '9', '255', 'ü', '€', '😀', 0, 0x7f, 0x80, 0xc3, 0xbc, 0xe2, 0xf0, 0xff)
  const some = fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    fc.array(piece, { maxLength: 40 }).map((all) => bytes(...all)),
  )
  fc.assert(
    fc.property(some, some, (a, b) => {
      const text = encodeTxtPart(a)
      assert.equal(text === encodeTxtPart(b), Buffer.compare(a, b) === 0)
      assert.equal(canonicalTxtPart(text), text)
      assert.doesNotMatch(text, /\p{Surrogate}/u)
      assert.ok(Buffer.from(text).every((byte) => byte >= 0x20 && byte !== 0x7f))
    }),
    { numRuns: 3000 },
  )
})

test('in a part that was written as text, escapes are decoded and a single backslash is doubled', () => {
  const pairs = [
    ['', ''],
    ['a\tb\u007f', 'a\\009b\\127'],
    ['a\\b', 'a\\\\b'],
    ['a\\\\b', 'a\\\\b'],
    ['\\', '\\\\'],
    ['\\\\\\', '\\\\\\\\'],
    ['\\000\\255', '\\000\\255'],
    ['\\256 \\25', '\\\\256 \\\\25'],
    ['\\092', '\\\\'],
    ['\\195\\188', 'ü'],
    ['\ud800x', '\ufffdx'],
  ]
  for (const [text, part] of pairs) assert.equal(canonicalTxtPart(text!), part, text)
})

test('the canonical text of a canonical text is the same text', () => {
  const piece = fc.constantFrom('\\', '0', '2', '5', '9', 'a', 'ü', '\ud83d', '\ude00', '\u0000', '\n')
  const some = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.array(piece, { maxLength: 60 }).map((all) => all.join('')),
  )
  fc.assert(
    fc.property(some, (given) => {
      const text = canonicalTxtPart(given)!
      assert.equal(canonicalTxtPart(text), text)
    }),
    { numRuns: 3000 },
  )
})

test('a part has at most 255 bytes, counted decoded', () => {
  assert.equal(canonicalTxtPart('a'.repeat(255))?.length, 255)
  assert.equal(canonicalTxtPart('a'.repeat(256)), null)
  assert.equal(canonicalTxtPart('\\000'.repeat(255))?.length, 1020)
  assert.equal(canonicalTxtPart('\\000'.repeat(256)), null)
  assert.equal(canonicalTxtPart(`${'ü'.repeat(127)}a`)?.length, 128)
  assert.equal(canonicalTxtPart('ü'.repeat(128)), null)
})
