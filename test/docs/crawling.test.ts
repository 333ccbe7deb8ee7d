/** docs/crawling.md has the current limits, the options of `crawl` and the domain of the demo. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Command } from 'commander'
import { SHOWCASE_DOMAIN } from '../../lab/lab.ts'
import { defineCrawl } from '../../src/cli/crawl/crawl.ts'
import { WEB_LIMITS } from '../../src/probe/http/limits.ts'
import { FULL_CYCLE_SECONDS, RATE_BOUNDS } from '../../src/probe/policy/politeness-limiter.ts'
import { PROBE_TIMEOUT_MS } from '../../src/probe/probe.ts'
import { MAX_REDIRECT_HOPS } from '../../src/probe/probe-result.ts'
import { RECORD_TYPES } from '../../src/values/records/dns-record.ts'
import { readPage, tableOf } from './markdown.ts'

const page = readPage('crawling.md')
const command = new Command('crawl')
defineCrawl(command)

const seconds = (milliseconds: number): string => `${milliseconds / 1000} s`
const size = (bytes: number): string => (bytes < 2 ** 20 ? `${bytes / 1024} KiB` : `${bytes / 2 ** 20} MiB`)

test('the limits are the current ones', () => {
  const {
    connectMs: connect,
    handshakeMs: handshake,
    headMs: head,
    headBytes,
    bodyMs: body,
    wireBytes,
    decodedBytes,
    ratio,
    ratioFrom,
    robotsMs: robots,
    robotsBytes,
  } = WEB_LIMITS
  const expected: Record<string, string[]> = {
    'a whole probe': [seconds(PROBE_TIMEOUT_MS), seconds(WEB_LIMITS.probeMs)],
    'a TCP connection': [seconds(connect)],
    'a TLS handshake': [seconds(handshake)],
    'the head of a response': [seconds(head), size(headBytes)],
    'the body of the start page': [
      seconds(body),
      size(wireBytes),
      size(decodedBytes),
      `${ratio} times`,
      size(ratioFrom),
    ],
    'robots.txt': [seconds(robots), size(robotsBytes)],
    'addresses tried per host': [String(WEB_LIMITS.maxAddresses)],
    'wait for the rate limit of an address': [
      seconds(WEB_LIMITS.firstRateLimitWaitMs),
      seconds(WEB_LIMITS.totalRateLimitWaitMs),
    ],
    'probes in flight': [`\`--parallel\`, ${command.opts().parallel}`],
  }
  const documented = new Map(boundsOf())
  for (const [what, bounds] of Object.entries(expected)) {
    for (const bound of bounds) assert.ok(documented.get(what)?.includes(bound), `${what}: ${bound}`)
  }
  assert.match(page.replaceAll(/\s+/g, ' '), new RegExp(`follows at most ${MAX_REDIRECT_HOPS} redirects`))
})

test('the rate limits are the current ones', () => {
  const rows = tableOf(page, 'target').map(([, least, most]) => [Number(least), Number(most)])
  assert.deepEqual(
    rows,
    [RATE_BOUNDS.address, RATE_BOUNDS.network, RATE_BOUNDS.servers].map(({ min: least, max: most }) => [least, most]),
  )
  assert.equal(FULL_CYCLE_SECONDS, 10 * 86_400, 'ten days')
})

function boundsOf(): [string, string][] {
  return tableOf(page.slice(page.indexOf('## Bounds')), 'what').map(([what, bound]) => [what!, bound!])
}

test('every option is documented, and every documented option exists', () => {
  const options = command.options.map(({ long }) => long!)
  const text = page.replaceAll('serve --crawl', 'serve')
  const named = new Set([...text.matchAll(/(?<![\w-])--[a-z]+/g)].map(([option]) => option))
  assert.deepEqual([...named].toSorted(), options.toSorted())
})

test('README shows the domain that the demo queries', () => {
  const readme = readPage('../README.md')
  assert.ok(readme.includes(`"query":"${SHOWCASE_DOMAIN}"`))
})

test('the page names every record type that a probe queries', () => {
  const [, listed = ''] = /queries the \w+ types ([A-Z, ]+(?: and [A-Z]+))/.exec(page.replaceAll(/\s+/g, ' '))!
  assert.deepEqual(listed.split(/, | and /).toSorted(), RECORD_TYPES.toSorted())
})
