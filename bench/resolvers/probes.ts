/**
 * A process that probes names through one resolver, DNS only, and prints how many were wrong or incomplete and how fast
 * it was.
 */

import { observe } from '../../src/observe/observe.ts'
import { DnsConcurrencyLimiter } from '../../src/probe/dns/concurrency-limiter.ts'
import { openResolver } from '../../src/probe/dns/resolver.ts'
import type { DnsServer } from '../../src/probe/dns/server.ts'
import { DnsServerPaths } from '../../src/probe/dns/server-path.ts'
import { createProber } from '../../src/probe/probe.ts'
import type { DomainName } from '../../src/values/domain-name.ts'
import { RECORD_TYPES } from '../../src/values/records/dns-record.ts'
import { behaviourOfName, resolverNameAt } from './names.ts'

/** The task: the first argument, as JSON. `fixed`: the number of queries in flight, or null if the limiter decides. */
export type ResolverTask = {
  server: DnsServer
  run: number
  names: number
  parallel: number
  fixed: number | null
}

/**
 * The result, printed as JSON. `wrong`: observations that are not true. `incomplete`: healthy names of which a part is
 * missing. `unreported`: dead names without an observation. `rate`: names per second between the first and the last
 * tenth.
 */
export type ResolverResult = {
  wrong: string[]
  incomplete: number
  unreported: number
  rate: number
  seconds: number
  limit: number
  overloads: number
}

const NO_WEB = { probe: async () => null, close: async () => {} }
const PRESENT = ['A', 'MX', 'TXT', 'NS', 'SOA']

const task: ResolverTask = JSON.parse(process.argv[2]!)
console.log(JSON.stringify(await probeAll(task)))
process.exit(0)

async function probeAll({ server, run, names, parallel, fixed }: ResolverTask): Promise<ResolverResult> {
  const limiter = new DnsConcurrencyLimiter(fixed === null ? {} : { fixed })
  const resolver = await openResolver({ servers: [server], paths: new DnsServerPaths(() => limiter) })
  const prober = createProber({ resolver, web: NO_WEB, now: () => 0 })
  const result: ResolverResult = {
    wrong: [],
    incomplete: 0,
    unreported: 0,
    rate: 0,
    seconds: 0,
    limit: 0,
    overloads: 0,
  }
  const ends: number[] = []
  const startedAt = performance.now()
  let next = 0
  const worker = async (): Promise<void> => {
    for (let index = next++; index < names; index = next++) {
      const name = resolverNameAt(run, index)
      const { dns } = observe(await prober.probe(name as DomainName))
      classify(result, name, dns)
      ends.push(performance.now())
    }
  }
  await Promise.all(Array.from({ length: parallel }, worker))
  result.seconds = (performance.now() - startedAt) / 1000
  const [from, to] = [ends[Math.floor(names / 10)]!, ends[Math.floor((9 * names) / 10)]!]
  result.rate = (0.8 * names) / ((to - from) / 1000)
  return { ...result, limit: limiter.limit, overloads: limiter.overloads }
}

function classify(result: ResolverResult, name: string, dns: ReturnType<typeof observe>['dns']): void {
  const isDead = behaviourOfName(name) !== 'healthy'
  if (dns === null) {
    if (isDead) result.unreported++
    else result.incomplete++
  } else if ((dns.status === 'servfail') !== isDead || dns.status === 'nxdomain') {
    result.wrong.push(`${name} (${behaviourOfName(name)}): ${dns.status}`)
  } else if (!isDead) {
    const wrong = RECORD_TYPES.filter(
      (type) => dns.records[type] && dns.records[type].length > 0 !== PRESENT.includes(type),
    )
    if (wrong.length > 0) result.wrong.push(`${name}: ${wrong}`)
    else if (RECORD_TYPES.some((type) => dns.records[type] === undefined)) result.incomplete++
  }
}
