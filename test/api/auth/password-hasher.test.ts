/** Hashing of passwords: Argon2id, the same work for everyone, and few at once. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PasswordHasher } from '../../../src/api/auth/password-hasher.ts'
import { ApiError } from '../../../src/api/http/errors.ts'

test('a password matches its hash, which is Argon2id with the recommended cost, and no other', async () => {
  const hasher = new PasswordHasher()
  const [one, other] = await Promise.all([hasher.hash('correct horse'), hasher.hash('correct horse')])
  assert.match(one, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  assert.notEqual(one, other)
  assert.equal(await hasher.verify(one, 'correct horse'), true)
  assert.equal(await hasher.verify(one, 'correct horsf'), false)
})

test('without a stored hash, one is computed all the same, and nothing matches', async () => {
  const hasher = new PasswordHasher()
  assert.equal(await hasher.verify(null, 'x'), false)
  assert.equal(hasher.computed, 1)
})

test('more than 42 at once are refused with a time to retry, and all others are done', async () => {
  const hasher = new PasswordHasher()
  const results = await Promise.allSettled(Array.from({ length: 50 }, () => hasher.verify(null, 'x')))
  const refused = results.filter(({ status }) => status === 'rejected')
  assert.equal(refused.length, 8)
  for (const { reason } of refused as PromiseRejectedResult[]) {
    assert.ok(reason instanceof ApiError)
    assert.deepEqual([reason.key, reason.retryAfter], ['too_many_attempts', 1])
  }
  assert.equal(hasher.computed, 42)
  assert.equal(await hasher.verify(null, 'x'), false, 'the next one has its turn')
})
