/** The cursor: any alteration is rejected, and it is valid for 24 hours. */

import assert from 'node:assert/strict'
import { createHmac, hkdfSync } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Cursor, cursorKeys, signCursor, verifyCursor } from '../../../src/api/signing/cursor.ts'

const DAY = 86_400
const SECRETS = [{ number: 7, bytes: new Uint8Array(32).fill(1) }]
const keys = cursorKeys(SECRETS)
const anyCursor: fc.Arbitrary<Cursor> = fc.record(
  {
    endpoint: fc.constantFrom('redirect', 'reverseip', 'dnshistory'),
    query: fc.domain(),
    type: fc.constantFrom('', 'A', 'TXT'),
    position: fc.string({ maxLength: 60 }),
    issued: fc.integer({ min: 1, max: 4e9 }),
  },
  { noNullPrototype: true },
)

test('an unchanged cursor is decoded to its content', () => {
  fc.assert(
    fc.property(anyCursor, (cursor) => {
      assert.deepEqual(verifyCursor(keys, signCursor(keys, cursor), cursor.issued), cursor)
    }),
  )
})

test('a cursor has the format of every release: the key is derived for its purpose, and signs what is before it', () => {
  const key = hkdfSync('sha256', SECRETS[0]!.bytes, new Uint8Array(), 'domaindex cursor 1', 32)
  const fields = ['redirect', 'example.com', '', 'a.example', 1_795_176_000]
  const signed = `7.${Buffer.from(JSON.stringify(fields)).toString('base64url')}`
  const signature = createHmac('sha256', Buffer.from(key)).update(signed).digest('base64url')
  const [endpoint, query, type, position, issued] = fields as [string, string, string, string, number]
  assert.equal(signCursor(keys, { endpoint, query, type, position, issued } as Cursor), `${signed}.${signature}`)
})

test('a cursor is URL-safe', () => {
  fc.assert(
    fc.property(anyCursor, (cursor) => {
      const text = signCursor(keys, cursor)
      assert.equal(encodeURIComponent(text), text)
    }),
  )
})

test('a cursor with any character altered, removed or added is invalid', () => {
  const anyCharacter = fc.constantFrom(...'ABCXYZabcxyz0189-_.=+/ ')
  fc.assert(
    fc.property(anyCursor, fc.nat(), fc.nat(2), anyCharacter, (cursor, place, removed, inserted) => {
      const text = signCursor(keys, cursor)
      const at = place % text.length
      for (const added of ['', inserted]) {
        const altered = text.slice(0, at) + added + text.slice(at + removed)
        if (altered !== text) assert.equal(verifyCursor(keys, altered, cursor.issued), 'cursor_invalid')
      }
    }),
    { numRuns: 500 },
  )
})

test('any other text is invalid', () => {
  fc.assert(fc.property(fc.string(), (text) => assert.equal(verifyCursor(keys, text, 0), 'cursor_invalid')))
  for (const text of ['.', '..', '7..', '7.W10.', '7', '2026-11-20T03:04:05']) {
    assert.equal(verifyCursor(keys, text, 0), 'cursor_invalid')
  }
})

test('a cursor is valid for less than 24 hours, and has expired after that', () => {
  fc.assert(
    fc.property(anyCursor, fc.integer({ min: -60, max: 3 * DAY }), (cursor, age) => {
      const opened = verifyCursor(keys, signCursor(keys, cursor), cursor.issued + age)
      if (age < DAY) assert.deepEqual(opened, cursor)
      else assert.equal(opened, 'cursor_expired')
    }),
  )
})

test('a cursor issued more than 60 s in the future is invalid', () => {
  const cursor: Cursor = { endpoint: 'redirect', query: 'a.example', type: '', position: 'b', issued: 1_000 }
  const text = signCursor(keys, cursor)
  assert.deepEqual(verifyCursor(keys, text, 940), cursor)
  assert.equal(verifyCursor(keys, text, 939), 'cursor_invalid')
})

test('a cursor of the former secret is accepted, and one of an unknown secret is not, even under a known number', () => {
  const cursor: Cursor = { endpoint: 'redirect', query: 'a.example', type: '', position: 'b', issued: 1_000 }
  const newer = { number: 9, bytes: new Uint8Array(32).fill(2) }
  const text = signCursor(keys, cursor)
  assert.deepEqual(verifyCursor(cursorKeys([newer, ...SECRETS]), text, 1_000), cursor)
  assert.equal(verifyCursor(cursorKeys([newer]), text, 1_000), 'cursor_invalid')
  assert.equal(verifyCursor(cursorKeys([{ ...newer, number: 7 }]), text, 1_000), 'cursor_invalid')
  assert.match(signCursor(cursorKeys([newer, ...SECRETS]), cursor), /^9\./)
})

test('two processes with the same secret derive the same keys', () => {
  assert.deepEqual(cursorKeys([{ number: 7, bytes: new Uint8Array(32).fill(1) }]), keys)
})
