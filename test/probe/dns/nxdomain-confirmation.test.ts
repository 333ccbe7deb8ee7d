/** Second opinions: a denial or failure of a single resolver is not a fact. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { answerAlways, answerShare } from '../../../lab/answer-overrides.ts'
import { type DnsHeard, type LabDnsServer, startDnsServer } from '../../../lab/dns.ts'
import type { DnsHost, DnsTable } from '../../../lab/dns-table.ts'
import { observe } from '../../../src/observe/observe.ts'
import type { Resolver } from '../../../src/probe/dns/resolver.ts'
import { createProber } from '../../../src/probe/probe.ts'
import type { DnsAnswer } from '../../../src/probe/probe-result.ts'
import type { WebProber } from '../../../src/probe/web.ts'
import { parseName } from '../../../src/values/domain-name.ts'
import { resolverOf } from './dns-lab.ts'

const HERE: DnsHost = { A: ['192.0.2.1'], MX: [{ priority: 1, mail_server: 'mx.test' }] }
const TABLE: DnsTable = { 'here.test': HERE, 'empty.test': {}, 'broken.test': 'servfail', '.': { NS: ['ns.test'] } }
const NXDOMAIN: DnsAnswer = { outcome: 'nxdomain' }
const SERVFAIL: DnsAnswer = { outcome: 'failed', why: 'servfail' }
const found: DnsAnswer = { outcome: 'records', records: ['192.0.2.1'], aliases: [] }
const NO_WEB: WebProber = { probe: async () => null, close: async () => {} }

/** Starts this many servers with one table, a resolver that queries them all, and a record of the queries. */
async function several(t: TestContext, count: number, table = TABLE) {
  const received: (DnsHeard & { by: number })[] = []
  const start = (_: unknown, by: number) => startDnsServer(table, (question) => received.push({ ...question, by }))
  const servers = await Promise.all(Array.from({ length: count }, start))
  t.after(() => Promise.allSettled(servers.map((server) => server.close())))
  const resolver = await resolverOf(t, servers, { timeoutMs: 300, attempts: 3 })
  return { resolver, servers: servers as [LabDnsServer, LabDnsServer, LabDnsServer], received }
}

async function visit(resolver: Resolver, name: string) {
  const crawler = createProber({ resolver, web: NO_WEB, now: () => 0 })
  const { dns } = observe(await crawler.probe(parseName(name)!))
  return dns
}

test('a name that two resolvers deny is nxdomain, which costs a probe one additional query', async (t) => {
  const { resolver, received } = await several(t, 2)
  assert.deepEqual(await visit(resolver, 'nobody.test'), { status: 'nxdomain', records: {} })
  assert.equal(received.length, 8)
  assert.deepEqual(new Set(received.map(({ by }) => by)), new Set([0, 1]))
  assert.equal(resolver.disagreements(), 0)
})

test('a name that only one of two resolvers denies stays unknown, whichever is queried first', async (t) => {
  const { resolver, servers } = await several(t, 2)
  servers[0].override(answerAlways('nxdomain'))
  const answers = await Promise.all(Array.from({ length: 8 }, () => resolver.resolve('here.test', 'A')))
  assert.deepEqual(new Set(answers.map((answer) => answer?.outcome)), new Set([undefined, 'records']))
  assert.ok(resolver.disagreements() > 0)
  for (const name of ['here.test', 'empty.test', 'broken.test']) {
    const dns = await visit(resolver, name)
    assert.ok(dns === null || dns.status === 'ok', `${name}: ${JSON.stringify(dns)}`)
    assert.ok(name !== 'here.test' || dns?.records.A?.length !== 0, 'an address was denied')
  }
})

test('of three resolvers that disagree, two decide', async (t) => {
  const { resolver, servers } = await several(t, 3)
  servers[1].override(answerAlways('nxdomain'))
  for (const _ of servers) assert.deepEqual(await resolver.resolve('here.test', 'A'), found)
  servers[2].override(answerAlways('nxdomain'))
  for (let left = 6; left > 0; left--) {
    const answer = await resolver.resolve('here.test', 'A')
    assert.ok(answer?.outcome !== undefined, 'two say the same, whatever it is')
  }
})

test('if all resolvers deny a host for one type only, the host lacks that type', async (t) => {
  const { resolver } = await several(t, 2, { 'odd.test': { A: ['192.0.2.1'], AAAA: 'nxdomain' } })
  assert.deepEqual(await resolver.resolve('odd.test', 'AAAA'), NXDOMAIN)
  const dns = await visit(resolver, 'odd.test')
  assert.deepEqual([dns?.status, dns?.records.A?.length, dns?.records.AAAA], ['ok', 1, []])
})

test('a failure needs two failing resolvers, and one answer is enough for success', async (t) => {
  const { resolver, servers } = await several(t, 2)
  for (const _ of servers) assert.deepEqual(await resolver.resolve('broken.test', 'A'), SERVFAIL)
  assert.equal(resolver.disagreements(), 0)
  servers[0].override(answerAlways('servfail'))
  for (const _ of servers) assert.deepEqual(await resolver.resolve('here.test', 'A'), found)
  assert.equal(resolver.disagreements(), 1)
  for (const _ of servers) assert.equal(await resolver.resolve('nobody.test', 'A'), null, 'NXDOMAIN of one alone')
})

test('if the other resolver is dead or excluded, a resolver alone denies nothing and fails nothing', async (t) => {
  const { resolver, servers } = await several(t, 2)
  const expectNothing = async () => {
    const names = ['nobody.test', 'broken.test', 'here.test'].flatMap((name) => [name, name])
    const answers = await Promise.all(names.map((name) => resolver.resolve(name, 'A')))
    assert.deepEqual(answers, [null, null, null, null, found, found])
  }
  servers[0].override(answerAlways('silent'))
  await expectNothing()
  await servers[0].close()
  await expectNothing()
})

test('an excluded server gets no queries, and gets them again when it is included', async (t) => {
  const { resolver, servers, received } = await several(t, 2)
  resolver.exclude([servers[0]])
  for (const _ of servers) assert.deepEqual(await resolver.resolve('here.test', 'A'), found)
  assert.equal(await resolver.resolve('nobody.test', 'A'), null)
  assert.deepEqual(new Set(received.map(({ by }) => by)), new Set([1]))
  resolver.exclude(servers)
  assert.equal(await resolver.resolve('here.test', 'A'), null)
  resolver.exclude([])
  assert.deepEqual(await resolver.resolve('nobody.test', 'A'), NXDOMAIN)
})

test('a single resolver is queried again, however often it is configured', async (t) => {
  const { servers, received } = await several(t, 1)
  const resolver = await resolverOf(t, [servers[0], { address: servers[0].address, port: servers[0].port }])
  assert.deepEqual(await resolver.resolve('nobody.test', 'A'), NXDOMAIN)
  assert.deepEqual(await resolver.resolve('broken.test', 'A'), SERVFAIL)
  assert.equal(received.length, 5, 'twice for what is missing, three times for what fails')
})

test('a single resolver that denies a name and then does not is not believed either way', async (t) => {
  const { resolver, servers, received } = await several(t, 1)
  servers[0].override(() => (received.length % 3 === 1 ? 'nxdomain' : undefined))
  assert.equal(await resolver.resolve('here.test', 'A'), null)
  assert.ok(received.length >= 2)
})

test('silence counts as the result of one resolver, however often it is queried', async (t) => {
  const { resolver, servers, received } = await several(t, 2, { ...TABLE, 'mute.test': 'silent' })
  assert.deepEqual(await resolver.resolve('mute.test', 'A'), { outcome: 'failed', why: 'timeout' })
  resolver.exclude([servers[0]])
  received.length = 0
  assert.equal(await resolver.resolve('mute.test', 'A'), null)
  assert.equal(received.filter(({ host }) => host === 'mute.test').length, 3)
})

test('whatever a lying resolver denies or fails next to an honest one, no probe reports it', async (t) => {
  const hosts = Array.from({ length: 60 }, (_, index) => `name-${index}.test`)
  const { resolver, servers } = await several(t, 2, Object.fromEntries(hosts.map((host) => [host, HERE])))
  const lies = fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.constantFrom('nxdomain', 'servfail', 'refused'))
  await fc.assert(
    fc.asyncProperty(lies, fc.constantFrom(0, 1), fc.constantFrom(...hosts), async ([share, output], liar, host) => {
      servers[0].override(null)
      servers[1].override(null)
      servers[liar]!.override(answerShare(share, output as DnsHost))
      const dns = await visit(resolver, host)
      assert.ok(dns === null || (dns.status === 'ok' && dns.records.A?.length !== 0 && dns.records.MX?.length !== 0))
    }),
    { numRuns: 200 },
  )
})
