/** One probe: its DNS queries, when it probes the web, and that it ends in time. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resolver } from '../../src/probe/dns/resolver.ts'
import { createProber, PROBE_TIMEOUT_MS } from '../../src/probe/probe.ts'
import type { DnsAnswer, WebProbeResult } from '../../src/probe/probe-result.ts'
import type { WebProber } from '../../src/probe/web.ts'
import { type DomainName, parseName } from '../../src/values/domain-name.ts'
import { RECORD_TYPES, type RecordType } from '../../src/values/records/dns-record.ts'

const NAME = parseName('example.com')!
const NOW = 1_800_000_000
const NXDOMAIN: DnsAnswer = { outcome: 'nxdomain' }
const SERVFAIL: DnsAnswer = { outcome: 'failed', why: 'servfail' }
const records = (...records: string[]): DnsAnswer => ({ outcome: 'records', records, aliases: [] })
const SEEN: WebProbeResult = {
  bare: { hops: [], end: 'no_response', page: null },
  www: null,
  certificate: { kind: 'none' },
}

type Answers = Partial<Record<RecordType, DnsAnswer | null>>

/** A prober whose resolver answers like this, and the calls of its web prober. */
function crawlerOf(answers: Answers, other: DnsAnswer | null = records()) {
  const asked: [string, RecordType][] = []
  const looked: [DomainName, readonly string[], boolean?][] = []
  const closed: string[] = []
  const resolver: Resolver = {
    resolve: async (host, type) => {
      asked.push([host, type])
      return answers[type] === undefined ? other : answers[type]
    },
    close: async () => void closed.push('resolver'),
  }
  const web: WebProber = {
    probe: async (domain, { addresses, isIncomplete: unknown }) => {
      looked.push(unknown ? [domain, addresses, true] : [domain, addresses])
      return SEEN
    },
    close: async () => void closed.push('web'),
  }
  return { ...createProber({ resolver, web, now: () => NOW }), asked, looked, closed }
}

test('the seven types are queried at once, and the web is probed with the addresses of both families', async () => {
  const {
    probe: visit,
    asked,
    looked,
    close,
    closed,
  } = crawlerOf({ A: records('192.0.2.1'), AAAA: records('2001:db8::1') })
  const { dns, ...rest } = await visit(NAME)
  assert.deepEqual(rest, { domain: NAME, at: NOW, web: SEEN })
  assert.deepEqual(Object.keys(dns!).toSorted(), RECORD_TYPES.toSorted())
  assert.deepEqual(
    asked,
    RECORD_TYPES.map((type) => [NAME, type]),
  )
  assert.deepEqual(looked, [[NAME, ['192.0.2.1', '2001:db8::1']]])
  await close()
  assert.deepEqual(closed.toSorted(), ['resolver', 'web'])
})

test('a name without addresses of its own is probed too, because www. may have some', async () => {
  const { probe: visit, looked } = crawlerOf({})
  assert.equal((await visit(NAME)).web, SEEN)
  assert.deepEqual(looked, [[NAME, []]])
})

for (const [what, answers, other] of [
  ['a name that does not exist', { A: NXDOMAIN, AAAA: NXDOMAIN }, NXDOMAIN],
  ['a name whose servers fail', { A: SERVFAIL, AAAA: SERVFAIL }, records()],
  ['a name whose addresses are unknown', { A: SERVFAIL }, records()],
  ['a name whose addresses could not be queried', { A: null, AAAA: null }, records()],
] as [string, Answers, DnsAnswer][]) {
  test(`the web of ${what} is not probed`, async () => {
    const { probe: visit, looked } = crawlerOf(answers, other)
    const { dns, web } = await visit(NAME)
    assert.deepEqual([web, looked], [null, []])
    assert.ok(dns !== null)
  })
}

test('addresses of one family are enough to probe the web, whatever the other one gives', async () => {
  for (const AAAA of [SERVFAIL, NXDOMAIN, null]) {
    const { probe: visit, looked } = crawlerOf({ A: records('192.0.2.1'), AAAA })
    assert.equal((await visit(NAME)).web, SEEN)
    assert.deepEqual(looked, [AAAA === null ? [NAME, ['192.0.2.1'], true] : [NAME, ['192.0.2.1']]])
  }
})

test('a type that could not be queried is left out, and if none could be, the dns part is null', async () => {
  const some = crawlerOf({ MX: null })
  assert.deepEqual(Object.keys((await some.probe(NAME)).dns!).includes('MX'), false)
  const none = crawlerOf({}, null)
  assert.deepEqual(await none.probe(NAME), { domain: NAME, at: NOW, dns: null, web: null })
})

test('a probe ends in time and leaves out what is not answered by then', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const never = new Promise<never>(() => {})
  const resolver: Resolver = {
    resolve: (_, type) => (type === 'A' ? Promise.resolve(records('192.0.2.1')) : never),
    close: async () => {},
  }
  const web: WebProber = { probe: () => never, close: async () => {} }
  const visited = createProber({ resolver, web, now: () => NOW }).probe(NAME)
  t.mock.timers.tick(PROBE_TIMEOUT_MS)
  const { dns, web: seen } = await visited
  assert.deepEqual([dns, seen], [{ A: records('192.0.2.1') }, null])
})
