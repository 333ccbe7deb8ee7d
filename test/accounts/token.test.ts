/** Tokens: their format, how other texts are rejected, and when they are active. */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { hashToken, isActive, makeToken, newTokenRecord, parseToken, TOKEN_BYTES } from '../../src/accounts/token.ts'

const random = fc.uint8Array({ minLength: TOKEN_BYTES, maxLength: TOKEN_BYTES })

test('a token has a prefix, at least 160 random bits and a checksum', () => {
  assert.ok(TOKEN_BYTES * 8 >= 160)
  fc.assert(fc.property(random, (bytes) => assert.match(makeToken(bytes), /^dxt_[0-9A-Za-z]{33}$/)))
})

test('every random bit counts', () => {
  fc.assert(
    fc.property(random, fc.nat(TOKEN_BYTES * 8 - 1), (bytes, bit) => {
      const other = bytes.slice()
      other[bit >> 3]! ^= 1 << (bit & 7)
      assert.notEqual(makeToken(bytes), makeToken(other))
    }),
  )
})

test('a token is read as it is, without surrounding white space', () => {
  fc.assert(
    fc.property(random, (bytes) => {
      const token = makeToken(bytes)
      assert.equal(parseToken(token), token)
      assert.equal(parseToken(` ${token}\n`), token)
    }),
  )
})

test('a token with one changed character is rejected without a lookup', () => {
  fc.assert(
    fc.property(random, fc.nat(36), fc.constantFrom(...'09AZaz_-'), (bytes, at, other) => {
      const token = makeToken(bytes)
      const changed = token.slice(0, at) + other + token.slice(at + 1)
      assert.equal(parseToken(changed), changed === token ? token : null)
    }),
  )
})

for (const text of ['', 'dxt_', 'token', 'x'.repeat(37), `dxt_${'0'.repeat(33)}`, 'é'.repeat(37)]) {
  test(`"${text}" is not a token`, () => assert.equal(parseToken(text), null))
}

test('only a SHA-256 of the token is stored, with its beginning as a hint', () => {
  const token = makeToken(new Uint8Array(TOKEN_BYTES).fill(7))
  assert.deepEqual(Buffer.from(hashToken(token)).toString('hex'), createHash('sha256').update(token).digest('hex'))
  const kept = newTokenRecord(token, 'laptop', null)
  assert.deepEqual(kept, { name: 'laptop', hint: token.slice(0, 8), hash: hashToken(token), expires: null })
})

test('a token is active until it is revoked or expires', () => {
  assert.equal(isActive({ revoked: null, expires: null }, 1_000), true)
  assert.equal(isActive({ revoked: 999, expires: null }, 1_000), false)
  assert.equal(isActive({ revoked: null, expires: 1_001 }, 1_000), true)
  assert.equal(isActive({ revoked: null, expires: 1_000 }, 1_000), false)
})
