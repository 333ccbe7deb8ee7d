/** The list crawl: runs the scheduler with a list as its source until every name of the list is probed and written. */

import { createProbeRateLimit } from '../queue/probe-rate-limit.ts'
import { runCrawlScheduler } from '../scheduler.ts'
import type { SchedulerDependencies } from '../session.ts'
import { CrawlStats } from '../status/stats.ts'
import { BATCH_DELAY_MS } from '../verified-batches.ts'
import { type ListCandidate, type ListCrawl, ListSource } from './list-source.ts'

/** Returns true if the whole list was crawled. Rejects if the list cannot be read or the destination fails. */
export async function crawlList(crawl: ListCrawl): Promise<boolean> {
  const source = new ListSource(crawl)
  const scheduler: SchedulerDependencies<ListCandidate> = {
    ...crawl,
    openSource: (session) => source.attach(session),
    sink: crawl.destination,
    isRepeated: () => false,
    maxDelayMs: 0,
    shares: { lookup: 0, new: 1, followup: 0, due: 0 },
    rateLimit: createProbeRateLimit(null),
    batchMs: BATCH_DELAY_MS,
    idleCheckMs: Number.POSITIVE_INFINITY,
    stats: new CrawlStats(),
    onProbeError(name, error) {
      crawl.tally.add('failed')
      crawl.onFault(name, error)
    },
    pauseAfter: () => null,
  }
  await runCrawlScheduler(scheduler, crawl.signal)
  if (source.failure !== null) throw source.failure.error
  return source.isDone
}
