/** The rules of passwords. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { normalizePassword, passwordProblem } from '../../src/accounts/password.ts'

const EMAIL = 'ann.miller@example.com'

for (const password of [
  'correct horse battery',
  'wuthering heights 1847',
  'пароль из четырех слов',
  '🐘 walks over 12 hills',
  'aaabcdefghijkm-zz',
  `long ${'word '.repeat(50)}`,
])
  test(`${password.slice(0, 30)} is a good password`, () => assert.equal(passwordProblem(password, EMAIL), null))

for (const [password, problem] of [
  ['', /at least 12 characters/],
  ['elevenchars', /at least 12 characters/],
  ['🐘🐘🐘🐘🐘🐘', /at least 12 characters/],
  ['x y '.repeat(65), /at most 256 characters/],
  ['aaaaaaaaaaaaaaa', /anyone would try/],
  ['abababababab', /anyone would try/],
  ['123456789012', /anyone would try/],
  ['abcdefghijkl', /anyone would try/],
  ['Password1234', /anyone would try/],
  ['passw0rd!!!!!', /anyone would try/],
  ['qwertyuiop123', /anyone would try/],
  ['Domaindex2026!', /anyone would try/],
  ['ann.miller@example.com', /must not be the email address/],
  ['my ann.miller@example.com', /must not be the email address/],
  ['Ann.Miller1234', /must not be the email address/],
] as const)
  test(`${password.slice(0, 30)} is refused`, () => assert.match(passwordProblem(password, EMAIL) ?? '', problem))

test('every keyboard gives the same password', () => {
  assert.equal(normalizePassword('caf\u0065\u0301 12345678'), normalizePassword('caf\u00e9 12345678'))
  assert.equal(normalizePassword('ｐａｓｓ'), 'pass')
})
