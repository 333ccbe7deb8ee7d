/** The rules of sessions: how long they are valid, and what their secrets look like. */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { hashSecret, sessionEnd } from '../../src/accounts/session.ts'

const DAY = 86_400
const CREATED = 1_795_176_000

test('a session ends 14 days after its last use, and 30 days after its begin in any case', () => {
  for (const [usedAfter, endsAfter] of [
    [0, 14],
    [1, 15],
    [15, 29],
    [16, 30],
    [17, 30],
    [29, 30],
  ] as const)
    assert.equal(
      sessionEnd({ created: CREATED, last_used: CREATED + usedAfter * DAY }),
      CREATED + endsAfter * DAY,
      `used after ${usedAfter} days`,
    )
})

test('a secret has 43 characters of base64url, and its hash is SHA-256', () => {
  const secret = `${'a-_Z9'.repeat(8)}xyz`
  assert.deepEqual(hashSecret(secret), createHash('sha256').update(secret).digest())
  for (const text of [
    '',
    secret.slice(1),
    `${secret}x`,
    `${secret}\n`,
    secret.replace('Z', '='),
    secret.replace('Z', 'ü'),
  ])
    assert.equal(hashSecret(text), null, text)
})
