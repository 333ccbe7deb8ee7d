/**
 * The prior state of a name before a probe. Outcomes are counted by prior state, so that each share measures changes.
 * Pure.
 */

import type { CrawlState, CurrentFacts } from '../../apply/crawl-state.ts'
import type { ProbeIntervals } from '../../apply/next-probe.ts'
import { lastProbedAt } from '../status/sweep-count.ts'

/**
 * `website`: it had a website. `dns`: it existed, without a known website. `recentlyChanged`: it existed and changed
 * recently. `failed`: it was nxdomain or servfail. `new`: it was never probed.
 */
export type PriorState = 'website' | 'dns' | 'recentlyChanged' | 'failed' | 'new'

/** A name counts as recently changed while its probe interval is shorter than this fraction of the first one. */
const RECENTLY_CHANGED_FACTOR = 0.5

/** `current` is null if nothing was read about the name. */
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
