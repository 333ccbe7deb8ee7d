/** Probes against resolvers with little capacity: our own load never becomes a fact about a name. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type LabDnsServer, startDnsServer } from '../../../lab/dns.ts'
import { LAB_SOA } from '../../../lab/dns-reply.ts'
import type { DnsTable } from '../../../lab/dns-table.ts'
import type { Observation } from '../../../src/observe/observation.ts'
import { observe } from '../../../src/observe/observe.ts'
import { DnsConcurrencyLimiter, type QueryTicket } from '../../../src/probe/dns/concurrency-limiter.ts'
import type { Resolver } from '../../../src/probe/dns/resolver.ts'
import { DnsServerPaths } from '../../../src/probe/dns/server-path.ts'
import { DnsServerPool } from '../../../src/probe/dns/server-pool.ts'
import { createProber } from '../../../src/probe/probe.ts'
import type { WebProber } from '../../../src/probe/web.ts'
import { type DomainName, parseName } from '../../../src/values/domain-name.ts'
import { RECORD_TYPES } from '../../../src/values/records/dns-record.ts'
import { resolverOf } from './dns-lab.ts'

const NO_WEB: WebProber = { probe: async () => null, close: async () => {} }
const DELAY = 5
const PARALLEL = 256
const WELL = {
  ...{ A: ['192.0.2.1'], AAAA: ['2001:db8::1'], MX: [{ priority: 1, mail_server: 'mx.test' }], TXT: [['v=1']] },
  ...{ NS: ['ns.test'], SOA: [LAB_SOA], delay: DELAY },
}
const DEAD = ['servfail', 'refused', { A: 'servfail', AAAA: 'refused', delay: DELAY }] as const

/** One of twenty names is dead. */
const fateOf = (index: number) => (index % 20 === 7 ? DEAD[index % DEAD.length]! : WELL)

function tableOf(count: number): DnsTable {
  const rows = Array.from({ length: count }, (_, index) => [`n${index}.test`, fateOf(index)])
  return { ...Object.fromEntries(rows), '.': { NS: ['ns.test'] } }
}

async function started(t: TestContext, count: number, bears: readonly number[]): Promise<LabDnsServer[]> {
  const servers = await Promise.all(bears.map((each) => startDnsServer(tableOf(count), () => {}, { bears: each })))
  t.after(() => Promise.allSettled(servers.map((server) => server.close())))
  return servers
}

async function visitAll(resolver: Resolver, count: number): Promise<Map<number, Observation['dns']>> {
  const crawler = createProber({ resolver, web: NO_WEB, now: () => 0 })
  const seen = new Map<number, Observation['dns']>()
  let next = 0
  const worker = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) {
      seen.set(index, observe(await crawler.probe(parseName(`n${index}.test`) as DomainName)).dns)
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, worker))
  return seen
}

/**
 * Three failures outside a noticed overload make a query fail. Then its type is left out, which is rare and not wrong.
 */
const MAX_LEFT_OUT_SHARE = 0.001

/** No result is wrong, and almost no record of a live name is missing. */
function expectTruth(seen: Map<number, Observation['dns']>): void {
  const leftOut: string[] = []
  for (const [index, dns] of seen) {
    const isDead = fateOf(index) !== WELL
    if (dns === null && isDead) continue
    assert.equal(dns?.status ?? 'ok', isDead ? 'servfail' : 'ok', `n${index}.test`)
    if (isDead) continue
    for (const type of RECORD_TYPES) {
      const records = dns?.records[type]
      if (records === undefined) leftOut.push(`n${index}.test ${type}`)
      else assert.equal(records.length, type === 'CNAME' ? 0 : 1, `n${index}.test ${type}`)
    }
  }
  const max = MAX_LEFT_OUT_SHARE * seen.size * RECORD_TYPES.length
  assert.ok(leftOut.length <= max, `${leftOut.length} records were left out, more than ${max}: ${leftOut}`)
}

test('a resolver that refuses more than 150 queries makes no name fail, and dead names are still detected', async (t) => {
  const count = 1_200
  const resolver = await resolverOf(t, await started(t, count, [150]), { attempts: 4, retryDelayMs: 20 })
  const seen = await visitAll(resolver, count)
  expectTruth(seen)
  const judged = [...seen.values()].filter((dns) => dns?.status === 'servfail').length
  assert.ok(judged > 0.9 * (count / 20), `${judged} of ${count / 20}`)
})

test('if one of two resolvers has almost no capacity, no name fails', async (t) => {
  const count = 600
  const resolver = await resolverOf(t, await started(t, count, [12, 400]), { attempts: 4, retryDelayMs: 20 })
  expectTruth(await visitAll(resolver, count))
})

test('a resolver that fails every query gives no result about any name', async (t) => {
  const [server] = (await started(t, 60, [1_000])) as [LabDnsServer]
  const resolver = await resolverOf(t, [server], { attempts: 2, retryDelayMs: 1 })
  for (const failure of ['servfail', 'refused'] as const) {
    server.override(() => failure)
    const seen = await visitAll(resolver, 60)
    assert.deepEqual(new Set(seen.values()), new Set([null]))
  }
})

/** A limiter that considers this many failures to be caused by overload. */
class OverloadedLimiter extends DnsConcurrencyLimiter {
  readonly #overloaded: number
  readonly #tickets = new Set<QueryTicket>()

  constructor(overloaded: number) {
    super()
    this.#overloaded = overloaded
  }

  override mayBeOverload(ticket: QueryTicket): boolean {
    if (this.#tickets.size < this.#overloaded) this.#tickets.add(ticket)
    return this.#tickets.has(ticket)
  }
}

async function queryOverloaded(t: TestContext, { failures = 0, timeLeftMs = 20_000 }) {
  const table: DnsTable = { 'live.test': WELL, '.': { NS: ['ns.test'] } }
  let received = 0
  const server = await startDnsServer(table, ({ host }) => (received += Number(host === 'live.test')))
  t.after(() => server.close())
  server.override((host) => (host === 'live.test' && received <= failures ? 'refused' : undefined))
  const paths = new DnsServerPaths(() => new OverloadedLimiter(failures))
  const pool = new DnsServerPool([server], { timeoutMs: 20_000, attempts: 4, sockets: 2, retryDelayMs: 1, paths })
  t.after(() => pool.close())
  const answer = await pool.query('live.test', 'A', { deadline: performance.now() + timeLeftMs })
  return { answer, received }
}

test('a query that fails in an overload alone is repeated until it is answered', async (t) => {
  const { answer, received } = await queryOverloaded(t, { failures: 30 })
  assert.equal(answer?.reply.outcome, 'records')
  assert.equal(received, 31)
})

test('if an overload does not end before the deadline of a query, nothing is reported', async (t) => {
  const { answer, received } = await queryOverloaded(t, { failures: Number.POSITIVE_INFINITY, timeLeftMs: 0 })
  assert.equal(answer, null)
  assert.equal(received, 4, 'the usual number of attempts')
})
