/** Email addresses: one canonical spelling each. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseEmail } from '../../src/accounts/account.ts'

test('an address is stored in lower case, with its domain as A-labels', () => {
  assert.equal(parseEmail(' Ann.Lee+api@Example.COM '), 'ann.lee+api@example.com')
  assert.equal(parseEmail('ann@bücher.example'), 'ann@xn--bcher-kva.example')
  assert.equal(parseEmail(`${'a'.repeat(64)}@example.com`), `${'a'.repeat(64)}@example.com`)
})

for (const text of [
  '',
  'ann',
  '@example.com',
  'ann@',
  'ann@localhost',
  'ann@@example.com',
  'ann lee@example.com',
  '.ann@example.com',
  'ann.@example.com',
  'ann..lee@example.com',
  'ann@example.com, bob@example.com',
  'ann@192.0.2.1',
  `${'a'.repeat(65)}@example.com`,
  `ann@${'a.'.repeat(126)}com`,
  'ann\n@example.com',
]) {
  test(`${JSON.stringify(text.slice(0, 40))} is not an address`, () => assert.equal(parseEmail(text), null))
}
