/** Tests for which texts the registrable domain stands in, if nothing is on record for the host itself. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hostAlternative, hostOfUrl } from '../../src/values/host-alternative.ts'

test('a URL and a www. host have an alternative, if their host is not the registrable domain', () => {
  const alternatives = [
    ['https://www.github.com/login', 'www.github.com', 'github.com'],
    ['hxxps://shop[.]one[.]co[.]uk/', 'shop.one.co.uk', 'one.co.uk'],
    ['www.github.com', 'www.github.com', 'github.com'],
    ['WWW.GitHub.com.', 'www.github.com', 'github.com'],
    ['api.github.com/v3', 'api.github.com', 'github.com'],
  ] as const
  for (const [text, host, domain] of alternatives) assert.deepEqual(hostAlternative(text), { host, domain }, text)
})

test('a name that was typed as a name stands for itself', () => {
  for (const text of [
    'api.github.com',
    'github.com',
    'https://github.com/',
    'www.com',
    '192.0.2.1',
    'http://192.0.2.1/',
    '',
    '//',
  ])
    assert.equal(hostAlternative(text), null, text)
})

test('the host of a URL is its name, without an address', () => {
  assert.equal(hostOfUrl('https://github.com/'), 'github.com')
  assert.equal(hostOfUrl('github.com'), null)
  assert.equal(hostOfUrl('http://192.0.2.1/'), null)
})
