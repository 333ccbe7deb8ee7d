/** The text of a start page. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { startPageText } from '../../src/observe/observe.ts'

const KIBIBYTE = 1024

test('the pieces are in one line with one space between them', () => {
  assert.equal(
    startPageText(['  Hello \n\t world', 'again\u00a0\u00a0and  ', '\u0000', 'again']),
    'Hello world again and again',
  )
})

test('characters that mark possible word breaks are dropped', () => {
  assert.equal(startPageText(['Donau\u00addampf\u200bschiff']), 'Donaudampfschiff')
})

test('a page without text has none', () => {
  for (const pieces of [[], [''], [' \n ', '\u200b']]) assert.equal(startPageText(pieces), null)
})

test('at most 64 KiB of UTF-8 are stored, in whole characters', () => {
  assert.equal(startPageText(['\u{1f600}'.repeat(20 * KIBIBYTE)]), '\u{1f600}'.repeat(16 * KIBIBYTE))
  assert.equal(Buffer.byteLength(startPageText([`a${'é'.repeat(64 * KIBIBYTE)}`]) ?? ''), 64 * KIBIBYTE - 1)
})

test('half a surrogate pair becomes the replacement character', () => {
  assert.equal(startPageText(['a\ud83d', 'b']), 'a\ufffd b')
})

test('any pieces give a well-formed text of at most 64 KiB that stays unchanged', () => {
  const piece = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom(' ', '\ud800', '\u2028', 'x'.repeat(40_000), 'é'.repeat(30_000)),
  )
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const text = startPageText(pieces)
      if (text === null) return
      assert.ok(text.isWellFormed() && Buffer.byteLength(text) <= 64 * KIBIBYTE && text !== '')
      assert.equal(startPageText([text]), text)
    }),
    { numRuns: 300 },
  )
})
