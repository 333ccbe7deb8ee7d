/** What was known of a name before a visit: visits are counted by it, so that what they come to is a share of changes. Pure. */

import type { CrawlState, CurrentFacts } from '../../apply/crawl-state.ts'
import type { ProbeIntervals } from '../../apply/next-probe.ts'
import { lastProbedAt } from '../status/sweep-count.ts'

/**
 * `website`: it had one. `dns`: it existed, and is not known to have had one. `recentlyChanged`: it existed, and changed lately.
 * `failed`: it was nxdomain or servfail. `new`: nobody had looked at it.
 */
export type PriorState = 'website' | 'dns' | 'recentlyChanged' | 'failed' | 'new'

/** A name is lively while its visits are closer together than this part of the span before the second visit. */
const RECENTLY_CHANGED_FACTOR = 0.5

/** `current` is null where nothing was read of it. */
export function priorStateOf(
  state: CrawlState,
  current: Pick<CurrentFacts, 'web'> | null,
  { first }: ProbeIntervals,
): PriorState {
  const last = lastProbedAt(state)
  if (last === 0 || current === null) return 'new'
  if (state.failures > 0) return 'failed'
  if (state.due - last < RECENTLY_CHANGED_FACTOR * first) return 'recentlyChanged'
  return current.web?.has_website === true ? 'website' : 'dns'
}
