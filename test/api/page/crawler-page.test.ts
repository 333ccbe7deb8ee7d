/** The page /crawler: explains the crawler to owners of sites, in plain HTML without scripts. */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import type { ApiOptions } from '../../../src/api/create-context.ts'
import { FULL_CYCLE_SECONDS, RATE_BOUNDS } from '../../../src/probe/policy/politeness-limiter.ts'
import { MAX_REDIRECT_HOPS } from '../../../src/probe/probe-result.ts'
import { userAgentOf } from '../../../src/server/crawl/crawl-access.ts'
import { RECORD_TYPES } from '../../../src/values/records/dns-record.ts'
import { makeWorld } from '../../spec/world.ts'
import { serverOf } from '../server.ts'
import { createWorldApi } from '../world-api.ts'

const world = await makeWorld()
const DAY = 86_400

/** Returns the response of an API with these settings at /crawler. */
async function pageOf(
  t: TestContext,
  settings: Partial<ApiOptions['settings']>,
  init: RequestInit = {},
): Promise<Response> {
  const { app } = await createWorldApi(world, {
    settings: { cors: '*', trustedProxies: [], ...settings },
  })
  t.after(() => app.close())
  return fetch(`${await app.listen({ host: '127.0.0.1', port: 0 })}/crawler`, init)
}

const crawling = (contact: string) => ({ crawlContact: contact, crawlMinInterval: DAY, crawlMaxInterval: 30 * DAY })

test('the page names the operator, the User-Agent, the robots.txt token, the requests, how often they come, and how to stop them', async (t) => {
  const contact = 'https://crawler.example/about'
  const response = await pageOf(t, crawling(contact))
  assert.deepEqual([response.status, response.headers.get('content-type')], [200, 'text/html; charset=utf-8'])
  const text = await response.text()
  assert.ok(text.includes(`<code>User-Agent: ${userAgentOf(contact)}</code>`))
  assert.equal(text.split(`<a href="${contact}">${contact}</a>`).length, 3)
  const { address, network } = RATE_BOUNDS
  const inWords: Record<number, string> = { 1: 'one', 5: 'five' }
  for (const words of [
    'User-agent: domaindex\nDisallow: /',
    'Retry-After',
    `at most ${MAX_REDIRECT_HOPS}`,
    'due again about 1 day after a visit at the earliest and about 30 days at the latest',
    'the crawler repeats it some minutes later',
    `At most ${inWords[address.min]} visit per second starts at an address, and at most ${inWords[network.min]} at all`,
    `up to ${address.max} and ${network.max}.`,
  ])
    assert.ok(text.includes(words), words)
  assert.equal(FULL_CYCLE_SECONDS, 10 * DAY, 'ten days')
  const { headers, status } = await pageOf(t, { ...crawling(contact), crawlMinInterval: 5_400 }, { method: 'HEAD' })
  assert.deepEqual([status, headers.get('content-length')?.length], [200, 4])
})

test('the page needs no token, runs and loads nothing, and is accessible', async (t) => {
  const response = await pageOf(t, crawling('crawler@example.com'))
  const policy = response.headers.get('content-security-policy')!
  const text = await response.text()
  const [, style = ''] = /<style>(.*?)<\/style>/s.exec(text)!
  assert.ok(policy.includes("default-src 'none'"))
  assert.ok(policy.includes(`style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`))
  assert.doesNotMatch(text, /<script|<link|<img|<form|<iframe| on[a-z]+=| style=|url\(/i)
  assert.match(text, /^<!doctype html>\n<html lang="en">/)
  assert.match(text, /<title>[^<]+<\/title>/)
  const headings = [...text.matchAll(/<h(\d)>/g)].map(([, level]) => level)
  assert.deepEqual([headings[0], new Set(headings.slice(1)), text.split('<main>').length], ['1', new Set(['2']), 2])
  assert.ok(text.includes('<a href="mailto:crawler@example.com">crawler@example.com</a>'))
})

test('a contact is shown as text, whatever it contains', async (t) => {
  for (const [contact, link] of [
    ['"><script>alert`1`</script>&@example.com', 'mailto:%22%3E%3Cscript%3Ealert%601%60%3C%2Fscript%3E%26@example.com'],
    [`https://example.com/?a="'><b>&c`, 'https://example.com/?a=&quot;&#39;&gt;&lt;b&gt;&amp;c'],
  ] as const) {
    const text = await (await pageOf(t, crawling(contact))).text()
    assert.ok(text.includes(`<a href="${link}">`), contact)
    assert.doesNotMatch(text, /<script|<b>/)
  }
})

test('without a contact the page says that this installation does not crawl', async (t) => {
  for (const settings of [{}, { crawlContact: null }]) {
    const text = await (await pageOf(t, settings)).text()
    assert.match(text, /This installation does not crawl/)
    assert.doesNotMatch(text, /Every request has/)
  }
})

test('the contact of the settings reaches the workers of serve', async (t) => {
  const { address } = await serverOf(t).serve({
    DOMAINDEX_CRAWL_CONTACT: 'crawler@example.com',
    DOMAINDEX_WORKERS: '1',
  })
  const text = await (await fetch(`${address}/crawler/`)).text()
  const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))
  assert.ok(text.includes(`domaindex/${version} (+crawler@example.com)`))
  assert.ok(text.includes('1 day after a visit at the earliest'))
})

test('given a contact, then the page lists every record type that a probe queries', async (t) => {
  const text = await (await pageOf(t, crawling('crawler@example.com'))).text()
  const [, listed = ''] = /types of DNS records of a name: ([A-Z, ]+ and [A-Z]+)\./.exec(text)!
  assert.deepEqual(listed.split(/, | and /).toSorted(), RECORD_TYPES.toSorted())
})
