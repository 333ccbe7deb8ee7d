/** Bands: whether more names fail, are gone or have lost their website than in the week before. Pure. */

import type { OutcomeCount } from '../../store/port/schedule.ts'
import type { PriorState } from './prior-state.ts'

/** The shares that are watched, by the name of their count. */
const SHARE_LABELS = { servfail: 'servfail', nxdomain: 'nxdomain', noWebsite: 'no website' } as const
type MonitoredShare = keyof typeof SHARE_LABELS

/**
 * The shares that are watched of names with this past. Names that are new, that failed or that changed lately are not judged:
 * what they come to changes with the lists that are imported, and with the waves in which such names come up again.
 */
const MONITORED_SHARES: Partial<Record<string, readonly MonitoredShare[]>> = {
  website: ['servfail', 'nxdomain', 'noWebsite'],
  dns: ['servfail', 'nxdomain'],
} satisfies Partial<Record<PriorState, readonly MonitoredShare[]>>

/** Visits of a kind, and how many of them came to each. */
export type OutcomeSums = Omit<OutcomeCount, 'hour'>

/** Visits of one block of the week, at least: an hour, or as many as it takes. */
const MIN_BLOCK_PROBES = 2_000
/** No band without so many blocks, on so many seconds at least. */
const MIN_BASELINE_BLOCKS = 12
const MIN_BASELINE_SECONDS = 86_400
/** Fewer visits of a kind are not judged: where others are nearly all that comes up, those few are no sample of their kind. */
export const MIN_SAMPLE_PROBES = 200
/** How far above all that the week had a share must be, in parts of all visits, whatever the number of visits. */
const MIN_SHARE_INCREASE = 0.02
/**
 * And how improbable, were its true value the largest of the week: e to the power of minus this, at most.
 */
const MAX_LOG_IMPROBABILITY = 20

/** The blocks of a history, by kind: consecutive rows put together until they have `least` visits; what is left over is dropped. */
export function baselineBlocks(history: readonly OutcomeCount[], minProbes = MIN_BLOCK_PROBES): OutcomeCount[] {
  const blocks: OutcomeCount[] = []
  const open = new Map<string, OutcomeCount>()
  for (const row of history.toSorted((a, b) => a.hour - b.hour)) {
    const block = addOutcomes(open.get(row.kind) ?? { ...row, probes: 0, servfail: 0, nxdomain: 0, noWebsite: 0 }, row)
    if (block.probes < minProbes) open.set(row.kind, { ...block, hour: row.hour })
    else {
      open.delete(row.kind)
      blocks.push({ ...block, hour: row.hour })
    }
  }
  return blocks
}

/** Counts of the same kind put together. */
export function addOutcomes<C extends OutcomeSums>(a: C, b: OutcomeSums): C {
  return {
    ...a,
    probes: a.probes + b.probes,
    servfail: a.servfail + b.servfail,
    nxdomain: a.nxdomain + b.nxdomain,
    noWebsite: a.noWebsite + b.noWebsite,
  }
}

/** Whether the blocks of a kind are enough of a history to judge by. */
export function isSufficientBaseline(blocks: readonly OutcomeCount[]): boolean {
  if (blocks.length < MIN_BASELINE_BLOCKS) return false
  const hours = blocks.map(({ hour }) => hour)
  return Math.max(...hours) - Math.min(...hours) >= MIN_BASELINE_SECONDS
}

/**
 * Why the counts of one kind lie above what its blocks had, a sentence; null where they do not, are too few, or of a kind
 * that is not judged. `nats` and `floor`: how improbable and how far above is too much.
 */
export function anomalyOf(
  counts: OutcomeSums,
  blocks: readonly OutcomeSums[],
  { nats = MAX_LOG_IMPROBABILITY, floor = MIN_SHARE_INCREASE }: { nats?: number; floor?: number } = {},
): string | null {
  const { kind, probes } = counts
  if (probes < MIN_SAMPLE_PROBES || blocks.length === 0) return null
  for (const shareKey of MONITORED_SHARES[kind] ?? []) {
    const baselineMax = Math.max(...blocks.map((block) => block[shareKey] / block.probes))
    const share = counts[shareKey] / probes
    if (share - baselineMax <= floor || probes * klDivergence(share, baselineMax) <= nats) continue
    const week = `${formatPercent(baselineMax)} % at most`
    return `${SHARE_LABELS[shareKey]} is ${formatPercent(share)} % of the last ${probes} visits (${kind}), where the week had ${week}`
  }
  return null
}

/**
 * Of a share from a true one, in nats (Kullback and Leibler): n visits show this share or one further off with a probability
 * of at most e to the power of minus n times this (Chernoff; Hoeffding 1963, theorem 1).
 */
function klDivergence(observed: number, expected: number): number {
  const term = (a: number, b: number): number =>
    a === 0 ? 0 : b === 0 ? Number.POSITIVE_INFINITY : a * Math.log(a / b)
  return term(observed, expected) + term(1 - observed, 1 - expected)
}

function formatPercent(part: number): string {
  return (100 * part).toFixed(1)
}
