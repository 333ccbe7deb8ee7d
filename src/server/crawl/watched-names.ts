/** Makes watched names due for a probe as often as the plans of their accounts say. */

import { type PlanLimitTable, planInForce } from '../../accounts/plan.ts'
import { type CrawlState, OBSERVED_PARTS } from '../../apply/crawl-state.ts'
import type { CrawlClock } from '../../crawler/notifier.ts'
import { addNames } from '../../registrations/add-names.ts'
import type { Store } from '../../store/port/store.ts'
import type { DomainName } from '../../values/domain-name.ts'
import { dayOf, type Instant } from '../../values/time.ts'

export type WatchedNames = {
  store: Pick<Store, 'ledger' | 'observations' | 'now'>
  limits: PlanLimitTable
  optOut: { hasName(name: DomainName): boolean }
  onFault(error: unknown): void
}

/** Milliseconds between two passes over the watches. */
const PASS_MS = 600_000
/** Watches that are read at once. */
const PAGE_WATCHES = 1_000
const SECONDS_PER_HOUR = 3_600
const STATUS_CLOCK = OBSERVED_PARTS.indexOf('status')

/** Works until the signal aborts. Several crawlers may do so: a name that is due already stays as it is. */
export async function keepWatchedNamesDue(names: WatchedNames, clock: CrawlClock, signal: AbortSignal): Promise<void> {
  let requested: ReadonlyMap<DomainName, Instant> = new Map()
  while (!signal.aborted) {
    try {
      requested = await makeWatchedNamesDue(names, requested, signal)
    } catch (error) {
      if (!signal.aborted) names.onFault(error)
    }
    await clock.wait(PASS_MS, signal)
  }
}

/**
 * One pass: makes names due whose newest observation is older than the interval of their plan, and adds unknown ones.
 * `requested`: when earlier passes did that, so that a name that cannot be probed is not tried in each pass. Returns it
 * with the names of this pass.
 */
export async function makeWatchedNamesDue(
  { store, limits, optOut }: WatchedNames,
  requested: ReadonlyMap<DomainName, Instant>,
  signal: AbortSignal,
): Promise<Map<DomainName, Instant>> {
  const now = await store.now()
  const intervals = new Map<DomainName, number>()
  const intervalOf = accountIntervals(store.ledger, limits, now)
  for (let after: number | null = 0; after !== null; ) {
    signal.throwIfAborted()
    const page = await store.ledger.watchedNames(after, PAGE_WATCHES)
    for (const { account, name } of page) {
      const interval = await intervalOf(account)
      if (interval !== null && !optOut.hasName(name))
        intervals.set(name, Math.min(interval, intervals.get(name) ?? interval))
    }
    after = page.at(-1)?.id ?? null
  }
  const kept = new Map([...requested].filter(([name, at]) => at + (intervals.get(name) ?? 0) > now))
  const wanted = [...intervals.keys()].filter((name) => !kept.has(name))
  for (let at = 0; at < wanted.length; at += PAGE_WATCHES) {
    const states = await store.observations.crawlStates(wanted.slice(at, at + PAGE_WATCHES))
    const names = states.filter((state) => isLate(state, intervals.get(state.name)!, now)).map(({ name }) => name)
    if (names.length > 0)
      await addNames([names], { insertsUnknown: true, makesDue: true }, { store, signal, onAdded() {} })
    for (const name of names) kept.set(name, now)
  }
  return kept
}

function isLate({ version, clocks, due, forgotten }: CrawlState, interval: number, now: Instant): boolean {
  return !forgotten && (version === 0 || (due > now && clocks[STATUS_CLOCK]! + interval <= now))
}

/** Seconds between two probes of the names that an account watches; null: as any other name. Suspended: null. */
function accountIntervals(
  ledger: Pick<Store['ledger'], 'accountById'>,
  limits: PlanLimitTable,
  now: Instant,
): (account: number) => Promise<number | null> {
  const known = new Map<number, number | null>()
  return async (id) => {
    let interval = known.get(id)
    if (interval === undefined) {
      const account = await ledger.accountById(id)
      const isActive = account !== null && account.suspended === null
      const hours = isActive ? limits[planInForce(account, dayOf(now))].probeHours : null
      interval = hours === null ? null : hours * SECONDS_PER_HOUR
      known.set(id, interval)
    }
    return interval
  }
}
