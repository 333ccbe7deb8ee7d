/** Which URLs an account may name for a webhook. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseWebhookUrl } from '../../src/delivery/webhook-url.ts'

for (const [text, url] of [
  ['https://Example.com', 'https://example.com/'],
  ['https://example.com:443/a?b=c', 'https://example.com/a?b=c'],
  ['https://93.184.215.14/', 'https://93.184.215.14/'],
] as const)
  test(`${text} is allowed`, () => assert.deepEqual(parseWebhookUrl(text, false), { url }))

for (const [text, problem] of [
  ['example.com', /must be a URL/],
  [`https://example.com/${'a'.repeat(2_000)}`, /at most 2000/],
  ['http://example.com/', /https/],
  ['https://example.com:8443/', /without a port/],
  ['ftp://example.com/', /https/],
  ['https://user:password@example.com/', /user and password/],
  ['https://example.com/#part', /fragment/],
  ['https://localhost/', /public/],
  ['https://127.0.0.1/', /public/],
  ['https://[::ffff:10.0.0.1]/', /public/],
  ['https://0x7f.1/', /public/],
  ['https://169.254.169.254/', /public/],
] as const)
  test(`${text.slice(0, 40)} is refused`, () => {
    const parsed = parseWebhookUrl(text, false)
    assert.match('problem' in parsed ? parsed.problem : parsed.url, problem)
  })

test('with the setting, private addresses, http:// and ports are allowed, but no metadata service', () => {
  assert.deepEqual(parseWebhookUrl('http://localhost:9000/a', true), { url: 'http://localhost:9000/a' })
  assert.deepEqual(parseWebhookUrl('http://10.0.0.1/', true), { url: 'http://10.0.0.1/' })
  for (const text of ['http://169.254.169.254/', 'ftp://10.0.0.1/']) assert.ok('problem' in parseWebhookUrl(text, true))
})
