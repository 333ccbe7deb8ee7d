/** What counts as a word, in any script. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { termsOf } from '../../../src/similar/text/terms.ts'

/** The terms of a text as hashes with their counts, in any order of words. */
const saidIn = (text: string): string => termsOf(text).counts.join()

/** Texts with the same words and counts. */
const SAME: [string, string][] = [
  ['fresh bread, FRESH', 'Fresh: fresh bread!'],
  ['Straße am Markt', 'STRASSE AM MARKT'],
  ['GROẞE', 'große'],
  ['ΟΔΟΣ Αθηνάς', 'οδος ΑΘΗΝΆΣ'],
  ['ёлка', 'ЁЛКА'],
  ['caf\u00e9', 'CAFE\u0301'],
  ['サーバー', '「サーバー」。'],
]

/** Texts with other words or counts. */
const OTHER: [string, string][] = [
  ['cafe', 'café'],
  ['се', 'сё'],
  ['bread', 'bread bread'],
  ['ビル', 'ビール'],
]

test('case, order and punctuation do not matter, whatever the script', () => {
  for (const [one, other] of SAME) assert.equal(saidIn(one), saidIn(other), `${one} | ${other}`)
})

test('accents and counts matter', () => {
  for (const [one, other] of OTHER) assert.notEqual(saidIn(one), saidIn(other), `${one} | ${other}`)
})

test('a prolonged vowel in Japanese belongs to its word', () => {
  for (const word of ['サーバー', 'コーヒー', 'データ']) assert.equal(termsOf(word).counts.length, 2, word)
})

test('an emoji is not a word, and neither is a mark without a letter', () => {
  for (const text of ['❤️', '☎️ ✈️', '👩‍🍳 🚀', '◌\u0301', '\ufe0f']) assert.equal(saidIn(text), '', text)
  assert.equal(saidIn('call ☎️ us'), saidIn('call us'))
})
