/** Crawls the lab for real, with the resolver, guard, web prober and observers of the service. */

import type { Lab } from '../../lab/lab.ts'
import type { Observation } from '../../src/observe/observation.ts'
import { observe } from '../../src/observe/observe.ts'
import { openResolver } from '../../src/probe/dns/resolver.ts'
import { makeGuard } from '../../src/probe/guard.ts'
import { createProber, type Prober } from '../../src/probe/probe.ts'
import { createWebProber } from '../../src/probe/web.ts'
import type { DomainName } from '../../src/values/domain-name.ts'
import type { Instant } from '../../src/values/time.ts'

const IN_FLIGHT = 24

/** Milliseconds of processor time of this process, for servers that would use up the whole timeout. */
const BRIEF = { answer: 1500, dns: 1000 }
/** Timeouts for all other servers, which answer however busy the machine is. */
const LONG = { connectMs: 60_000, handshakeMs: 60_000, headMs: 60_000, bodyMs: 60_000, robotsMs: 60_000 }

/** Wall-clock milliseconds of a whole probe, because a process may have to wait for a processor. */
const VISIT = 600_000

/** Hosts that never answer, or not completely. */
const SILENT: ReadonlySet<string> = new Set([
  'dripping-body.example',
  'dripping-head.example',
  'hangs-after-redirect.example',
  'moved-to-silence.example',
  'mute.example',
  'no-text-answer.example',
  'not-http.example',
  'robots-drips.example',
  'silent.example',
  'tls-hangs.example',
  'www-only-mute.example',
])

/** Probes these names of the lab. `at`: the time of the probe results. */
export async function crawl(
  lab: Lab,
  given: readonly DomainName[],
  at: Instant,
): Promise<Map<DomainName, Observation>> {
  const [patient, brief] = await Promise.all([open(lab, at, false), open(lab, at, true)])
  const names = given.filter((name) => !SILENT.has(name))
  const seen = new Map<DomainName, Observation>()
  const visit = async (crawler: Prober, name: DomainName) => {
    seen.set(name, observe(await crawler.probe(name)))
  }
  const worker = async () => {
    for (let name = names.pop(); name !== undefined; name = names.pop()) {
      await visit(patient, name)
    }
  }
  const silent = given.filter((name) => SILENT.has(name))
  await Promise.all([...Array.from({ length: IN_FLIGHT }, worker), ...silent.map((name) => visit(brief, name))])
  await Promise.all([patient.close(), brief.close()])
  return seen
}

async function open(lab: Lab, at: Instant, isBrief: boolean): Promise<Prober> {
  const servers = [lab.resolver]
  const { answer } = BRIEF
  const resolver = await openResolver(
    isBrief ? { servers, timeoutMs: BRIEF.dns, attempts: 2, retryDelayMs: 100 } : { servers, retryDelayMs: 100 },
  )
  const web = createWebProber({
    resolver,
    guard: makeGuard({ portMappings: lab.portMappings }),
    roots: [lab.root],
    userAgent: 'domaindex/test (+https://crawler.example)',
    limits: isBrief ? { handshakeMs: answer, headMs: answer, bodyMs: answer, robotsMs: answer } : LONG,
  })
  return createProber({ resolver, web, now: () => at, timeoutMs: VISIT })
}
