/** docs/crawling.md names the bounds that are in force, the options that there are, and what the lab is. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Command } from 'commander'
import { SHOWN } from '../../lab/lab.ts'
import { define } from '../../src/commands/crawl.ts'
import { VISIT_MILLISECONDS } from '../../src/crawl/crawl.ts'
import { RATES, ROUND_SECONDS } from '../../src/crawl/pace.ts'
import { MOST_HOPS } from '../../src/crawl/visit.ts'
import { WEB_LIMITS } from '../../src/crawl/web-limits.ts'
import { readPage, tableOf } from './markdown.ts'

const page = readPage('crawling.md')
const command = new Command('crawl')
define(command)

const seconds = (milliseconds: number): string => `${milliseconds / 1000} s`
const size = (bytes: number): string => (bytes < 2 ** 20 ? `${bytes / 1024} KiB` : `${bytes / 2 ** 20} MiB`)

test('the bounds are those in force', () => {
  const { connect, handshake, head, headBytes, body, wireBytes, decodedBytes, ratio, ratioFrom, robots, robotsBytes } =
    WEB_LIMITS
  const expected: Record<string, string[]> = {
    'a whole visit': [seconds(VISIT_MILLISECONDS), seconds(WEB_LIMITS.visit)],
    'a TCP connection': [seconds(connect)],
    'a TLS handshake': [seconds(handshake)],
    'the head of an answer': [seconds(head), size(headBytes)],
    'the body of the start page': [
      seconds(body),
      size(wireBytes),
      size(decodedBytes),
      `${ratio} times`,
      size(ratioFrom),
    ],
    'robots.txt': [seconds(robots), size(robotsBytes)],
    'addresses tried of a host': [String(WEB_LIMITS.addresses)],
    'a turn at an address': [seconds(WEB_LIMITS.firstTurn), seconds(WEB_LIMITS.turns)],
    'visits in flight': [`\`--parallel\`, ${command.opts().parallel}`],
  }
  const documented = new Map(boundsOf())
  for (const [what, bounds] of Object.entries(expected)) {
    for (const bound of bounds) assert.ok(documented.get(what)?.includes(bound), `${what}: ${bound}`)
  }
  assert.match(page, new RegExp(`are followed, ${MOST_HOPS} at most`))
})

test('the pace is the one in force', () => {
  const rows = tableOf(page.replaceAll(/^ {2}\|/gm, '|'), 'place').map(([, least, most]) => [
    Number(least),
    Number(most),
  ])
  assert.deepEqual(
    rows,
    [RATES.address, RATES.network, RATES.servers].map(({ least, most }) => [least, most]),
  )
  assert.equal(ROUND_SECONDS, 10 * 86_400, 'ten days')
})

function boundsOf(): [string, string][] {
  return tableOf(page.slice(page.indexOf('## Bounds')), 'what').map(([what, bound]) => [what!, bound!])
}

test('every option is in the docs, and every option in them is one', () => {
  const options = command.options.map(({ long }) => long!)
  const text = `${page}${readPage('operating.md').split('## Importing')[0]}`.replaceAll('serve --crawl', 'serve')
  const named = new Set([...text.matchAll(/(?<![\w-])--[a-z]+/g)].map(([option]) => option))
  assert.deepEqual([...named].toSorted(), options.toSorted())
})

test('README shows what the demo asks about', () => {
  const readme = readPage('../README.md')
  assert.ok(readme.includes(`"query":"${SHOWN}"`))
})
