/** What a crawl has seen so far, counted, and how that is said. */

import type { DnsStatus, Observation } from '../../observe/observation.ts'
import type { Outcome } from '../../store/ingest.ts'

/**
 * `unseen`: could not be looked at for a reason of ours; `held`: the turn was too far off; `opted-out`: on the opt-out list;
 * `unusable`: lines that are no name; `failed`: a fault of the program.
 * `refused`: the clock of this machine is ahead of the store's.
 */
type Count =
  | DnsStatus
  | 'website'
  | 'unseen'
  | 'held'
  | 'opted-out'
  | 'forgotten'
  | 'failed'
  | 'unusable'
  | 'written'
  | Outcome

/** Told in any case, and those told only where there are some. */
const SEEN = ['ok', 'nxdomain', 'servfail', 'website'] as const
const RARE = ['unseen', 'held', 'opted-out', 'forgotten', 'failed', 'ahead', 'unusable'] as const
const KEPT = { store: ['applied', 'unchanged', 'stale'], file: ['written'] } as const

export type Tally = ReturnType<typeof makeTally>

export function makeTally(kept: keyof typeof KEPT) {
  const counts = new Map<Count, number>()
  const of = (count: Count): number => counts.get(count) ?? 0
  const words = (names: readonly Count[]): string[] => names.map((name) => `${name} ${of(name)}`)
  const rare = (): string[] => words(RARE.filter((name) => of(name) > 0))
  const visited = (): number => of('ok') + of('nxdomain') + of('servfail') + of('unseen') + of('failed')
  return {
    of,
    visited,
    /** Names that wait for their turn. */
    waiting: 0,
    /** Names in a row that could not be looked at. */
    blindFor: 0,
    add(count: Count): void {
      counts.set(count, of(count) + 1)
    },
    see({ dns, web }: Observation): void {
      this.add(dns?.status ?? 'unseen')
      if (web?.has_website) this.add('website')
    },
    /** As in `ok 70  nxdomain 4  servfail 6  website 41`. */
    line(): string {
      return [...words(SEEN), ...rare(), ...(this.waiting > 0 ? [`waiting ${this.waiting}`] : [])].join('  ')
    },
    /** All counts by name, those that are 0 left out where they are rare. */
    object(seconds: number): object {
      const names = [...SEEN, ...KEPT[kept], ...RARE.filter((name) => of(name) > 0)]
      return { visited: visited(), ...Object.fromEntries(names.map((name) => [name, of(name)])), seconds }
    },
    /** As in `visited 80, ok 70, …, applied 75, unchanged 5, stale 0 (12.3 s, 7 visits/s)`. */
    summary(seconds: number): string {
      const rate = Math.round(visited() / Math.max(seconds, 0.001))
      const all = [`visited ${visited()}`, ...words([...SEEN, ...KEPT[kept]]), ...rare()].join(', ')
      return `${all} (${seconds.toFixed(1)} s, ${rate} visits/s)`
    },
  }
}
