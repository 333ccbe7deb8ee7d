/**
 * A process that visits names through one resolver, DNS alone, and says what was wrong, what is missing and how fast it
 * was.
 */

import { observe } from '../../src/observe/observe.ts'
import { DnsConcurrencyLimiter } from '../../src/probe/dns/concurrency-limiter.ts'
import { openResolver, type Server } from '../../src/probe/dns/resolver.ts'
import { DnsServerPaths } from '../../src/probe/dns/server-path.ts'
import { createProber } from '../../src/probe/probe.ts'
import { RECORD_TYPES } from '../../src/values/dns-record.ts'
import type { DomainName } from '../../src/values/domain-name.ts'
import { fateOf, nameAt } from './names.ts'

/** What it is told, as JSON, in its first argument. `fixed`: questions in flight; null: the limiter decides. */
export type Order = {
  server: Server
  run: number
  names: number
  parallel: number
  fixed: number | null
}

/**
 * What it says, as JSON. `wrong`: an observation says what is not so. `lost`: healthy names of which something is
 * missing.
 * `unjudged`: dead names of which nothing was said. `rate`: names a second, of those between the first and the last
 * tenth.
 */
export type Taken = {
  wrong: string[]
  lost: number
  unjudged: number
  rate: number
  seconds: number
  limit: number
  overloads: number
}

const NO_WEB = { probe: async () => null, close: async () => {} }
const PRESENT = ['A', 'MX', 'TXT', 'NS', 'SOA']

const order: Order = JSON.parse(process.argv[2]!)
console.log(JSON.stringify(await visitAll(order)))
process.exit(0)

async function visitAll({ server, run, names, parallel, fixed }: Order): Promise<Taken> {
  const limiter = new DnsConcurrencyLimiter(fixed === null ? {} : { fixed })
  const resolver = await openResolver({ servers: [server], paths: new DnsServerPaths(() => limiter) })
  const crawler = createProber({ resolver, web: NO_WEB, now: () => 0 })
  const taken: Taken = { wrong: [], lost: 0, unjudged: 0, rate: 0, seconds: 0, limit: 0, overloads: 0 }
  const ends: number[] = []
  const began = performance.now()
  let next = 0
  const worker = async (): Promise<void> => {
    for (let index = next++; index < names; index = next++) {
      const name = nameAt(run, index)
      const { dns } = observe(await crawler.probe(name as DomainName))
      judge(taken, name, dns)
      ends.push(performance.now())
    }
  }
  await Promise.all(Array.from({ length: parallel }, worker))
  taken.seconds = (performance.now() - began) / 1000
  const [from, to] = [ends[Math.floor(names / 10)]!, ends[Math.floor((9 * names) / 10)]!]
  taken.rate = (0.8 * names) / ((to - from) / 1000)
  return { ...taken, limit: limiter.limit, overloads: limiter.overloads }
}

function judge(taken: Taken, name: string, dns: ReturnType<typeof observe>['dns']): void {
  const isDead = fateOf(name) !== 'healthy'
  if (dns === null) {
    if (isDead) taken.unjudged++
    else taken.lost++
  } else if ((dns.status === 'servfail') !== isDead || dns.status === 'nxdomain') {
    taken.wrong.push(`${name} (${fateOf(name)}): ${dns.status}`)
  } else if (!isDead) {
    const wrong = RECORD_TYPES.filter(
      (type) => dns.records[type] && dns.records[type].length > 0 !== PRESENT.includes(type),
    )
    if (wrong.length > 0) taken.wrong.push(`${name}: ${wrong}`)
    else if (RECORD_TYPES.some((type) => dns.records[type] === undefined)) taken.lost++
  }
}
