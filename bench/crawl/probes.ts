/**
 * The measured process of bench:crawl: visits what a file tells it to, checks every answer, and prints what that took.
 */

import { readFileSync } from 'node:fs'
import type { Observation } from '../../src/observe/observation.ts'
import { observe } from '../../src/observe/observe.ts'
import { openResolver } from '../../src/probe/dns/resolver.ts'
import { makeGuard } from '../../src/probe/guard.ts'
import { createProber, type Prober } from '../../src/probe/probe.ts'
import { createWebProber } from '../../src/probe/web.ts'
import { RECORD_TYPES } from '../../src/values/dns-record.ts'
import type { DomainName } from '../../src/values/domain-name.ts'
import { type Kind, nameOf, type Place } from './servers.ts'

/**
 * `dns`: the seven questions alone. `visits` over `names`, in their order, again and again, after `warming` others that
 * are not measured.
 */
export type Task = {
  place: Place
  what: Kind | 'dns'
  names: number
  warming: number
  visits: number
  parallel: number
}
/**
 * `warmingSeconds`: of the processor, for the visits before. `memory`: resident bytes at every tenth of the visits,
 * after a collection where the process may ask for one.
 */
export type Taken = {
  seconds: number
  cpuSeconds: number
  warmingSeconds: number
  wrong: number
  memory: number[]
  peakBytes: number
}

const task = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as Task
console.log(JSON.stringify(await measure(task)))

async function measure({ place, what, names, warming, visits, parallel }: Task): Promise<Taken> {
  const resolver = await openResolver({ servers: [place.server] })
  const web = createWebProber({
    resolver,
    guard: makeGuard({ portMappings: place.stands }),
    roots: [place.root],
    userAgent: 'domaindex/bench (+https://example.com/bench)',
  })
  const crawler = createProber({ resolver, web, now: () => Math.floor(Date.now() / 1000) })
  const kind = what === 'dns' ? 'page' : what
  const looksRight = async (name: DomainName): Promise<boolean> => {
    if (what !== 'dns') return isRight(await visited(crawler, name), kind)
    const answers = await Promise.all(RECORD_TYPES.map((type) => resolver.resolve(name, type)))
    return answers.every((answer) => answer?.outcome === 'records')
  }
  let next = 0
  let wrong = 0
  const memory: number[] = []
  const take = async (end: number): Promise<void> => {
    while (next < end) {
      const index = next++
      if (!(await looksRight(nameOf(kind, index % names) as DomainName))) wrong++
      if ((index + 1 - warming) % Math.ceil(visits / 10) === 0 && index >= warming) {
        globalThis.gc?.()
        memory.push(process.memoryUsage.rss())
      }
    }
  }
  const takeAll = async (end: number) => {
    const [before, begun] = [process.cpuUsage(), performance.now()]
    await Promise.all(Array.from({ length: parallel }, () => take(end)))
    const { user, system } = process.cpuUsage(before)
    return { seconds: (performance.now() - begun) / 1000, cpuSeconds: (user + system) / 1e6 }
  }
  const { cpuSeconds: warmingSeconds } = await takeAll(warming)
  const taken = await takeAll(warming + visits)
  await crawler.close()
  return { ...taken, warmingSeconds, wrong, memory, peakBytes: process.resourceUsage().maxRSS * 1024 }
}

async function visited(crawler: Prober, name: DomainName): Promise<Observation> {
  return observe(await crawler.probe(name))
}

/** What each kind of site must give. */
function isRight({ dns, web }: Observation, kind: Kind): boolean {
  const { A, MX, TXT, NS, SOA } = dns?.records ?? {}
  const isWhole = A?.length === 1 && MX?.length === 2 && TXT?.length === 2 && NS?.length === 2 && SOA?.length === 1
  const isSeen = web?.has_website === true && web.ssl === (kind === 'plain' ? 'nocert' : 'valid') && web.text !== null
  return isWhole && isSeen && (kind !== 'page' || web.social_accounts.length === 3)
}
