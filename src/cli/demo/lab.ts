/** Crawls the lab, the small internet on loopback, in its first state and then in its second. */

import { type Lab, startLab } from '../../../lab/lab.ts'
import { storeDestination } from '../../crawler/list/destination.ts'
import { openListProgress } from '../../crawler/list/list-progress.ts'
import { createListReporter } from '../../crawler/list/list-reporter.ts'
import { crawlList } from '../../crawler/list/list-source.ts'
import { createListCrawlTally } from '../../crawler/list/list-tally.ts'
import { nameListFromArguments } from '../../crawler/list/name-list.ts'
import { makeFamilyGuard } from '../../probe/address-families.ts'
import { openResolver } from '../../probe/dns/resolver.ts'
import { DnsServerPaths } from '../../probe/dns/server-path.ts'
import { makeGuard } from '../../probe/guard.ts'
import { makePolitenessLimiter } from '../../probe/policy/politeness-limiter.ts'
import { createProber } from '../../probe/probe.ts'
import { openNetworkSelfCheck } from '../../probe/self-check/network-self-check.ts'
import { createWebProber } from '../../probe/web.ts'
import { userAgentOf } from '../../server/crawl/crawl-access.ts'
import { SYSTEM_CLOCK } from '../../server/system-clock.ts'
import type { Store } from '../../store/port/store.ts'
import type { DomainName } from '../../values/domain-name.ts'
import type { Instant } from '../../values/time.ts'
import { startProgress } from '../program/output.ts'

const currentSecond = (): Instant => Math.floor(Date.now() / 1000)

/** Milliseconds to wait for the lab's servers that never answer. */
const DEMO_WEB_LIMITS = { handshakeMs: 3000, headMs: 3000, bodyMs: 3000, robotsMs: 3000, probeMs: 8000 }
const DEMO_DNS_LIMITS = { timeoutMs: 1500, attempts: 2, retryDelayMs: 100 }
const DEMO_PARALLEL_PROBES = 32

/** All servers of the lab are our own, so no probe waits for a rate limit. */
const OWN_SERVERS = {
  politeness: makePolitenessLimiter({ nowMs: SYSTEM_CLOCK.monotonicMs }),
  optOut: { hasName: () => false },
  isOwn: () => true,
}

const nowSeconds = (): Instant => Math.floor(Date.now() / 1000)

/** The domains of the lab, and the summary of each crawl. */
export type LabCrawl = { names: readonly DomainName[]; summaries: string[] }

/** Starts the lab, crawls it twice into the store, and stops it. */
export async function crawlLab(store: Store): Promise<LabCrawl> {
  const lab = await startLab()
  try {
    const first = await crawlOnce(lab, store)
    lab.change()
    await nextSecond()
    return { names: lab.names, summaries: [first, await crawlOnce(lab, store)] }
  } finally {
    await lab.close()
  }
}

async function crawlOnce(lab: Lab, store: Store): Promise<string> {
  const paths = new DnsServerPaths()
  const servers = [lab.resolver]
  const resolver = await openResolver({ servers, paths, ...DEMO_DNS_LIMITS })
  const guard = makeFamilyGuard(makeGuard({ portMappings: lab.portMappings }))
  const selfCheck = openNetworkSelfCheck({ servers, plan: lab.selfCheckPlan, resolver, guard, paths })
  const web = createWebProber({
    resolver,
    guard,
    roots: [lab.root],
    userAgent: userAgentOf(null),
    limits: DEMO_WEB_LIMITS,
  })
  const prober = createProber({ resolver, web, now: nowSeconds })
  const list = nameListFromArguments(lab.names)
  const listProgress = openListProgress(list, '')
  const tally = createListCrawlTally('store')
  const progress = startProgress('probes')
  const reporter = createListReporter(list, listProgress.resumeAfterLine, tally, progress)
  const { signal } = new AbortController()
  try {
    await crawlList({
      clock: SYSTEM_CLOCK,
      ...OWN_SERVERS,
      probe: prober.probe,
      runSelfCheck: () => selfCheck.check(),
      destination: storeDestination(store, ''),
      progress: listProgress,
      tally,
      parallel: DEMO_PARALLEL_PROBES,
      signal,
      ...reporter,
    })
  } finally {
    progress.end()
    await Promise.all([selfCheck.close(), prober.close()])
  }
  if (tally.of('failed') > 0) reporter.finish(true)
  return tally.summary(progress.seconds())
}

/** Resolves when the next second begins. */
export async function nextSecond(): Promise<void> {
  const second = currentSecond()
  while (currentSecond() <= second) await new Promise((resolve) => setTimeout(resolve, 50))
}
