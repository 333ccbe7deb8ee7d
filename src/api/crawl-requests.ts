/** Names that callers look up in vain: each is wanted to be visited soon, up to a number an account and day. */

import type { CrawlRequests } from '../store/port/crawl-requests.ts'
import type { DomainName } from '../values/domain-name.ts'
import { type Day, dayOf, type Instant } from '../values/time.ts'

/** Wants a name for an account, beside whatever is answered. */
export type RequestCrawl = (account: number, name: DomainName) => void

/** `most`: names an account and day; `onFault` is told of a wish that could not be kept. */
type CrawlRequesterOptions = {
  crawlRequests: CrawlRequests
  maxPerDay: number
  now: () => Instant
  onFault: (error: unknown) => void
}

/** Wishes on their way at once, and names and accounts that are remembered, at most. */
const MAX_IN_FLIGHT_REQUESTS = 100
const MAX_REMEMBERED_NAMES = 10_000

export function createCrawlRequester({
  crawlRequests,
  maxPerDay: most,
  now,
  onFault,
}: CrawlRequesterOptions): RequestCrawl {
  let day: Day | null = null
  let underWay = 0
  const wanted = new Set<DomainName>()
  const spent = new Set<number>()

  const isNeedless = (account: number, name: DomainName, today: Day): boolean => {
    const isFull = wanted.size >= MAX_REMEMBERED_NAMES || spent.size >= MAX_REMEMBERED_NAMES
    if (day !== today || isFull) {
      wanted.clear()
      spent.clear()
      day = today
    }
    return spent.has(account) || wanted.has(name) || underWay >= MAX_IN_FLIGHT_REQUESTS
  }

  return (account, name) => {
    const today = dayOf(now())
    if (isNeedless(account, name, today)) return
    wanted.add(name)
    underWay++
    const keep = async (): Promise<void> => {
      if (!(await crawlRequests.requestFromLookup({ account, day: today, name, maxPerDay: most }))) {
        spent.add(account)
        wanted.delete(name)
      }
    }
    keep()
      .catch((error) => {
        wanted.delete(name)
        onFault(error)
      })
      .finally(() => underWay--)
  }
}
