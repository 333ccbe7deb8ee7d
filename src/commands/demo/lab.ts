/** The crawl of the lab: the small internet on loopback is visited in its first state, then in its second. */

import { type Lab, startLab } from '../../../lab/lab.ts'
import { openControls } from '../../crawl/controls.ts'
import { openCrawler } from '../../crawl/crawl.ts'
import { openResolver } from '../../crawl/dns.ts'
import { Paths } from '../../crawl/dns-path.ts'
import { guardFamilies } from '../../crawl/families.ts'
import { makeGuard } from '../../crawl/guard.ts'
import { openWeb } from '../../crawl/web.ts'
import type { Store } from '../../store/store.ts'
import type { Name } from '../../words/name.ts'
import type { Instant } from '../../words/time.ts'
import { storeDestination } from '../crawl/destination.ts'
import { listOfArguments } from '../crawl/list.ts'
import { placeOf } from '../crawl/place.ts'
import { userAgentOf } from '../crawl/reach.ts'
import { makeTally } from '../crawl/tally.ts'
import { tellerOf } from '../crawl/tell.ts'
import { crawlAll } from '../crawl/visits.ts'
import { progressOf } from '../progress.ts'
import { nextSecond } from './second.ts'

/** Those of the lab that never answer are waited for as short as this, in milliseconds. */
const LIMITS = { handshake: 3000, head: 3000, body: 3000, robots: 3000, visit: 8000 }
const DNS_LIMITS = { timeout: 1500, attempts: 2, pause: 100 }
const PARALLEL = 32

const now = (): Instant => Math.floor(Date.now() / 1000)

/** The domains that there are, and what each crawl said of them. */
export type Crawled = { names: readonly Name[]; summaries: string[] }

/** Starts the lab, crawls it twice and ends it. What is seen goes into the store. */
export async function crawlLab(store: Store): Promise<Crawled> {
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
  const paths = new Paths()
  const servers = [lab.resolver]
  const resolver = await openResolver({ servers, paths, ...DNS_LIMITS })
  const guard = guardFamilies(makeGuard({ stands: lab.stands }))
  const controls = openControls({ servers, plan: lab.controls, resolver, guard, paths })
  const web = openWeb({ resolver, guard, roots: [lab.root], userAgent: userAgentOf(null), limits: LIMITS })
  const crawler = openCrawler({ resolver, web, now })
  const list = listOfArguments(lab.names)
  const place = placeOf(list, '')
  const tally = makeTally('store')
  const progress = progressOf('visits')
  const teller = tellerOf(list, place.from, tally, progress)
  const { signal } = new AbortController()
  try {
    await crawlAll({
      crawler,
      look: () => controls.check(),
      destination: storeDestination(store, ''),
      place,
      tally,
      parallel: PARALLEL,
      signal,
      ...teller,
    })
  } finally {
    progress.end()
    await Promise.all([controls.close(), crawler.close()])
  }
  if (tally.of('failed') > 0) teller.conclude(true)
  return tally.summary(progress.seconds())
}
