/** The conformance suite: everything that the port and the contract require of a store, tested on one engine. */

import { describe } from 'node:test'
import { crowd } from './concurrent-writers.ts'
import { crawlRequests } from './crawl-requests.ts'
import { dropping } from './dropping.ts'
import type { Engine } from './engine.ts'
import { filings } from './filings.ts'
import { forgetting } from './forgetting.ts'
import { histories } from './histories.ts'
import { jobs } from './jobs.ts'
import { leases } from './leases.ts'
import { listing } from './listing.ts'
import { lists } from './lists.ts'
import { looking } from './lookups.ts'
import { upkeep } from './maintenance.ts'
import { retargeting } from './retargeting.ts'
import { schedule } from './schedule.ts'
import { segments } from './segments.ts'
import { similar } from './similar.ts'
import { states } from './states.ts'
import { threads } from './threads.ts'
import { gate } from './version-check.ts'
import { wholeStores } from './whole-stores.ts'
import { writing } from './writing.ts'

export function conformance(engine: Engine): void {
  describe(engine.name, () => {
    for (const part of [
      writing,
      gate,
      leases,
      schedule,
      crawlRequests,
      jobs,
      looking,
      lists,
      states,
      forgetting,
      retargeting,
      crowd,
      listing,
      similar,
      dropping,
      filings,
      segments,
      threads,
      upkeep,
      wholeStores,
      histories,
    ])
      part(engine)
  })
}
