/**
 * The measured process of bench:crawl: runs the probes of a task file, checks every observation and prints the result.
 */

import { readFileSync } from 'node:fs'
import type { Observation } from '../../src/observe/observation.ts'
import { observe } from '../../src/observe/observe.ts'
import { openResolver } from '../../src/probe/dns/resolver.ts'
import { makeGuard } from '../../src/probe/guard.ts'
import { createProber, type Prober } from '../../src/probe/probe.ts'
import { createWebProber } from '../../src/probe/web.ts'
import type { DomainName } from '../../src/values/domain-name.ts'
import { RECORD_TYPES } from '../../src/values/records/dns-record.ts'
import { type ServerAddresses, type SiteKind, siteNameAt } from './servers.ts'

/**
 * Workload `dns`: only the seven DNS queries. The process probes the names in order, repeatedly: first `warmUps` probes
 * that are not measured, then `probes` that are.
 */
export type CrawlTask = {
  servers: ServerAddresses
  workload: SiteKind | 'dns'
  names: number
  warmUps: number
  probes: number
  parallel: number
}
/**
 * `warmUpCpuSeconds`: processor time of the warm-up probes. `memory`: resident bytes at every tenth of the probes,
 * after a garbage collection if the process can request one.
 */
export type CrawlResult = {
  seconds: number
  cpuSeconds: number
  warmUpCpuSeconds: number
  wrong: number
  memory: number[]
  peakBytes: number
}

const task = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as CrawlTask
console.log(JSON.stringify(await measure(task)))

async function measure({ servers, workload, names, warmUps, probes, parallel }: CrawlTask): Promise<CrawlResult> {
  const resolver = await openResolver({ servers: [servers.server] })
  const web = createWebProber({
    resolver,
    guard: makeGuard({ portMappings: servers.portMappings }),
    roots: [servers.root],
    userAgent: 'domaindex/bench (+https://example.com/bench)',
  })
  const prober = createProber({ resolver, web, now: () => Math.floor(Date.now() / 1000) })
  const kind = workload === 'dns' ? 'page' : workload
  const looksRight = async (name: DomainName): Promise<boolean> => {
    if (workload !== 'dns') return isRight(await probeName(prober, name), kind)
    const answers = await Promise.all(RECORD_TYPES.map((type) => resolver.resolve(name, type)))
    return answers.every((answer) => answer?.outcome === 'records')
  }
  let next = 0
  let wrong = 0
  const memory: number[] = []
  const probeUntil = async (end: number): Promise<void> => {
    while (next < end) {
      const index = next++
      if (!(await looksRight(siteNameAt(kind, index % names) as DomainName))) wrong++
      if ((index + 1 - warmUps) % Math.ceil(probes / 10) === 0 && index >= warmUps) {
        globalThis.gc?.()
        memory.push(process.memoryUsage.rss())
      }
    }
  }
  const probeAll = async (end: number) => {
    const [before, startedAt] = [process.cpuUsage(), performance.now()]
    await Promise.all(Array.from({ length: parallel }, () => probeUntil(end)))
    const { user, system } = process.cpuUsage(before)
    return { seconds: (performance.now() - startedAt) / 1000, cpuSeconds: (user + system) / 1e6 }
  }
  const { cpuSeconds: warmUpCpuSeconds } = await probeAll(warmUps)
  const result = await probeAll(warmUps + probes)
  await prober.close()
  return { ...result, warmUpCpuSeconds, wrong, memory, peakBytes: process.resourceUsage().maxRSS * 1024 }
}

async function probeName(prober: Prober, name: DomainName): Promise<Observation> {
  return observe(await prober.probe(name))
}

/** Checks the observation of a site of the given kind. */
function isRight({ dns, web }: Observation, kind: SiteKind): boolean {
  const { A, MX, TXT, NS, SOA } = dns?.records ?? {}
  const isComplete = A?.length === 1 && MX?.length === 2 && TXT?.length === 2 && NS?.length === 2 && SOA?.length === 1
  const hasPage = web?.has_website === true && web.ssl === (kind === 'plain' ? 'nocert' : 'valid') && web.text !== null
  return isComplete && hasPage && (kind !== 'page' || web.social_accounts.length === 3)
}
