/** The memory of a crawl: what outlasts its spans. */

import { Recent } from '../crawl/recent.ts'
import type { Lease } from '../store/schedule.ts'
import type { Name } from '../words/name.ts'
import type { Crawl } from './crawl.ts'
import { Met } from './met.ts'
import { makeRate, type Rate } from './rate.ts'
import { NEW_WATCH, type Watch } from './watch.ts'

export type Memory = {
  rate: Rate
  /** Names that are being visited, whichever span wanted that. */
  flight: Set<Name>
  /** Wanted names that cannot be visited now: until when they are passed over, in milliseconds. */
  resting: Recent<Name, number>
  /** Since when names that a caller asked for are wanted in vain, and when they last were, in milliseconds. */
  asked: Recent<Name, { since: number; latest: number }>
  /** How often in a row names could not be looked at. */
  unseen: Recent<Name, number>
  /** Leases that could not be given back. */
  owed: Lease[]
  watch: Watch
  met: Met
}

/** How many names are remembered. */
const MOST_RESTING = 10_000
const MOST_UNSEEN = 100_000

export function newMemory({ rate }: Pick<Crawl, 'rate'>): Memory {
  return {
    rate: makeRate(rate),
    flight: new Set(),
    resting: new Recent(MOST_RESTING),
    asked: new Recent(MOST_RESTING),
    unseen: new Recent(MOST_UNSEEN),
    owed: [],
    watch: NEW_WATCH,
    met: new Met(),
  }
}
