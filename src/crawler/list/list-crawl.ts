/** The list crawl: runs the scheduler with a list as its source until every name of the list is probed and written. */

import type { PolitenessLimiter } from '../../probe/policy/politeness-limiter.ts'
import type { DomainName } from '../../values/domain-name.ts'
import type { IpAddress } from '../../values/ip-address.ts'
import { createProbeRateLimit } from '../queue/probe-rate-limit.ts'
import { runCrawlScheduler } from '../scheduler.ts'
import type { SchedulerDependencies } from '../session.ts'
import { CrawlStats } from '../status/stats.ts'
import { BATCH_DELAY_MS } from '../verified-batches.ts'
import type { Destination } from './destination.ts'
import { type ListCandidate, ListSource, type ListSourceOptions } from './list-source.ts'

type Politeness = {
  limiter: Pick<PolitenessLimiter, 'wait' | 'acquire' | 'backoffRemaining'>
  optOut: { hasName(name: DomainName): boolean }
  /** Whether an address is the operator's own, without rate limits. */
  isOwn(address: IpAddress): boolean
}

export type ListCrawl = Pick<ListSourceOptions, 'progress' | 'tally' | 'signal' | 'clock' | 'onEntry' | 'onProbe'> &
  Pick<SchedulerDependencies<ListCandidate>, 'probe' | 'runSelfCheck' | 'parallel' | 'log'> & {
    destination: Pick<Destination, 'targetsOf' | 'write' | 'history'>
    /** Undefined if all servers are the operator's own. */
    politeness?: Politeness
    /** A program error in one probe. The crawl continues. */
    onFault(name: DomainName, error: unknown): void
  }

const NO_POLITENESS: Politeness = {
  limiter: { wait: () => 0, acquire: () => 0, backoffRemaining: () => 0 },
  optOut: { hasName: () => false },
  isOwn: () => true,
}

/** Returns true if the whole list was crawled. Rejects if the list cannot be read or the destination fails. */
export async function crawlList(crawl: ListCrawl): Promise<boolean> {
  const { destination, politeness: { limiter, optOut, isOwn } = NO_POLITENESS } = crawl
  const source = new ListSource({ ...crawl, politeness: limiter, optOut, isOwn })
  const scheduler: SchedulerDependencies<ListCandidate> = {
    ...crawl,
    openSource: (session) => source.attach(session),
    sink: destination,
    isRepeated: () => false,
    politeness: limiter,
    maxDelayMs: 0,
    shares: { lookup: 0, new: 1, followup: 0, due: 0 },
    rateLimit: createProbeRateLimit(null),
    batchMs: BATCH_DELAY_MS,
    stats: new CrawlStats(),
    onProbeError(name, error) {
      crawl.tally.add('failed')
      crawl.onFault(name, error)
    },
    pauseAfter: () => null,
  }
  await runCrawlScheduler(scheduler, crawl.signal)
  return source.isDone
}
