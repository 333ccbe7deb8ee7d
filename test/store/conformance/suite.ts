/** The conformance suite: everything that the port and the contract require of a store, tested on one engine. */

import { describe } from 'node:test'
import { asOf } from './as-of.ts'
import { certificates } from './certificates.ts'
import type { Engine } from './engine.ts'
import { erasedAccounts } from './erased-accounts.ts'
import { histories } from './histories.ts'
import { filling } from './inverse/filling.ts'
import { largeEntries } from './inverse/large-entries.ts'
import { merging } from './inverse/merging.ts'
import { upkeep } from './maintenance.ts'
import { listing } from './reading/listing.ts'
import { lists } from './reading/lists.ts'
import { lookalikes } from './reading/lookalikes.ts'
import { looking } from './reading/lookups.ts'
import { names } from './reading/names.ts'
import { profiles } from './reading/profiles.ts'
import { states } from './reading/states.ts'
import { certificateLogs } from './schedule/certificate-logs.ts'
import { crawlRequests } from './schedule/crawl-requests.ts'
import { jobs } from './schedule/jobs.ts'
import { leases } from './schedule/leases.ts'
import { schedule } from './schedule/schedule.ts'
import { dropping } from './similar/dropping.ts'
import { filings } from './similar/filings.ts'
import { segments } from './similar/segments.ts'
import { similar } from './similar/similar.ts'
import { delivering } from './watch/delivering.ts'
import { digests } from './watch/digests.ts'
import { previewing } from './watch/previewing.ts'
import { watching } from './watch/watching.ts'
import { wholeStores } from './whole-stores.ts'
import { crowd } from './writing/concurrent-writers.ts'
import { forgetting } from './writing/forgetting.ts'
import { forgettingEverything } from './writing/forgetting-everything.ts'
import { ingesting } from './writing/ingesting.ts'
import { pruning } from './writing/pruning.ts'
import { retargeting } from './writing/retargeting.ts'
import { threads } from './writing/threads.ts'
import { gate } from './writing/version-check.ts'
import { writing } from './writing/writing.ts'

export function conformance(engine: Engine): void {
  describe(engine.name, () => {
    for (const part of [
      writing,
      ingesting,
      gate,
      leases,
      schedule,
      crawlRequests,
      jobs,
      certificateLogs,
      looking,
      lists,
      names,
      lookalikes,
      profiles,
      states,
      forgetting,
      forgettingEverything,
      pruning,
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
      watching,
      previewing,
      delivering,
      digests,
      erasedAccounts,
      histories,
      asOf,
      merging,
      filling,
      certificates,
      largeEntries,
    ])
      part(engine)
  })
}
