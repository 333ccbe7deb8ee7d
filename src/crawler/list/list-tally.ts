/** The counts of a list crawl, and their text. */

import type { DnsStatus, Observation } from '../../observe/observation.ts'
import type { IngestOutcome } from '../../store/ingest.ts'

/**
 * `not_probed`: not probed, for a local reason; `rate_limited`: the wait was too long. `opted_out`: on the opt-out
 * list; `invalid`: a line that is not a name; `failed`: a program error. `ahead`: the clock of this machine is ahead of
 * the store's.
 */
type ListCountKey =
  | DnsStatus
  | 'website'
  | 'not_probed'
  | 'rate_limited'
  | 'opted_out'
  | 'forgotten'
  | 'failed'
  | 'invalid'
  | 'written'
  | IngestOutcome

/** Counts that are always shown, and those shown only if they are not 0. */
const ALWAYS_SHOWN = ['ok', 'nxdomain', 'servfail', 'website'] as const
const SHOWN_IF_NONZERO = ['not_probed', 'rate_limited', 'opted_out', 'forgotten', 'failed', 'ahead', 'invalid'] as const
const WRITE_OUTCOMES = { store: ['applied', 'unchanged', 'stale'], file: ['written'] } as const

export type ListCrawlTally = ReturnType<typeof createListCrawlTally>

export function createListCrawlTally(destinationKind: keyof typeof WRITE_OUTCOMES) {
  const counts = new Map<ListCountKey, number>()
  const countOf = (count: ListCountKey): number => counts.get(count) ?? 0
  const formatCounts = (names: readonly ListCountKey[]): string[] => names.map((name) => `${name} ${countOf(name)}`)
  const nonzero = (): ListCountKey[] => SHOWN_IF_NONZERO.filter((name) => countOf(name) > 0)
  const always = [...ALWAYS_SHOWN, ...WRITE_OUTCOMES[destinationKind]]
  const probed = (): number =>
    countOf('ok') + countOf('nxdomain') + countOf('servfail') + countOf('not_probed') + countOf('failed')
  return {
    of: countOf,
    probed,
    /** Delayed names. */
    waiting: 0,
    add(count: ListCountKey): void {
      counts.set(count, countOf(count) + 1)
    },
    countObservation({ dns, web }: Observation): void {
      this.add(dns?.status ?? 'not_probed')
      if (web?.has_website) this.add('website')
    },
    /** As in `ok 70  nxdomain 4  servfail 6  website 41`. */
    line(): string {
      const waiting = this.waiting > 0 ? [`waiting ${this.waiting}`] : []
      return [...formatCounts([...ALWAYS_SHOWN, ...nonzero()]), ...waiting].join('  ')
    },
    /** All counts by name, without rare ones that are 0. */
    object(seconds: number): object {
      const names = [...always, ...nonzero()]
      return { probed: probed(), ...Object.fromEntries(names.map((name) => [name, countOf(name)])), seconds }
    },
    /** As in `probed 80, ok 70, …, applied 75, unchanged 5, stale 0 (12.3 s, 7 probes/s)`. */
    summary(seconds: number): string {
      const rate = Math.round(probed() / Math.max(seconds, 0.001))
      const all = [`probed ${probed()}`, ...formatCounts([...always, ...nonzero()])].join(', ')
      return `${all} (${seconds.toFixed(1)} s, ${rate} probes/s)`
    },
  }
}
