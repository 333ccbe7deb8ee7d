/** Creates crawl requests for unknown names that callers look up, up to a number per account and day. */

import type { CrawlRequests } from '../store/port/crawl-requests.ts'
import type { DomainName } from '../values/domain-name.ts'
import { type Day, dayOf, type Instant } from '../values/time.ts'

/** Requests a crawl of a name for an account, in the background. */
export type RequestCrawl = (account: number, name: DomainName) => void

/** `maxPerDay`: names per account and day. `onFault` is called if a request cannot be stored. */
type CrawlRequesterOptions = {
  crawlRequests: CrawlRequests
  maxPerDay: number
  now: () => Instant
  onFault: (error: unknown) => void
}

/** The maximum number of requests in flight. */
const MAX_IN_FLIGHT_REQUESTS = 100
/** The maximum number of cached names, and of cached accounts. */
const MAX_REMEMBERED_NAMES = 10_000

export function createCrawlRequester({ crawlRequests, maxPerDay, now, onFault }: CrawlRequesterOptions): RequestCrawl {
  let day: Day | null = null
  let inFlight = 0
  const requestedNames = new Set<DomainName>()
  const exhaustedAccounts = new Set<number>()

  const isRedundant = (account: number, name: DomainName, today: Day): boolean => {
    const isFull = requestedNames.size >= MAX_REMEMBERED_NAMES || exhaustedAccounts.size >= MAX_REMEMBERED_NAMES
    if (day !== today || isFull) {
      requestedNames.clear()
      exhaustedAccounts.clear()
      day = today
    }
    return exhaustedAccounts.has(account) || requestedNames.has(name) || inFlight >= MAX_IN_FLIGHT_REQUESTS
  }

  return (account, name) => {
    const today = dayOf(now())
    if (isRedundant(account, name, today)) return
    requestedNames.add(name)
    inFlight++
    const store = async (): Promise<void> => {
      if (!(await crawlRequests.requestFromLookup({ account, day: today, name, maxPerDay }))) {
        exhaustedAccounts.add(account)
        requestedNames.delete(name)
      }
    }
    store()
      .catch((error) => {
        requestedNames.delete(name)
        onFault(error)
      })
      .finally(() => inFlight--)
  }
}
