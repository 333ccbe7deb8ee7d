/** The baseline: whether more names fail, are missing or have lost their website than in the week before. Pure. */

import type { OutcomeCount } from '../../store/port/schedule.ts'
import { SECONDS_PER_DAY } from '../../values/time.ts'
import type { PriorState } from './prior-state.ts'

/** The labels of the monitored shares. */
const SHARE_LABELS = { servfail: 'servfail', nxdomain: 'nxdomain', noWebsite: 'no website' } as const
type MonitoredShare = keyof typeof SHARE_LABELS

/**
 * The monitored shares by prior state. New, failed and recently changed names are not evaluated. Their outcomes depend
 * on the imported lists, and on waves in which such names become due.
 */
const MONITORED_SHARES: Partial<Record<string, readonly MonitoredShare[]>> = {
  website: ['servfail', 'nxdomain', 'noWebsite'],
  dns: ['servfail', 'nxdomain'],
} satisfies Partial<Record<PriorState, readonly MonitoredShare[]>>

/** The probes of a kind and their outcomes. */
export type OutcomeSums = Omit<OutcomeCount, 'hour'>

/** The minimum of probes in a block of the baseline. A block covers at least an hour. */
const MIN_BLOCK_PROBES = 2_000
/** A baseline needs this many blocks over this many seconds. */
const MIN_BASELINE_BLOCKS = 12
const MIN_BASELINE_SECONDS = SECONDS_PER_DAY
/**
 * Fewer probes of a kind are not evaluated. If nearly all due names are of other kinds, these few are not
 * representative.
 */
export const MIN_SAMPLE_PROBES = 200
/** How far a share must exceed every block of the week, as a part of all probes, whatever their number. */
const MIN_SHARE_INCREASE = 0.02
/**
 * How improbable the share must be if its true value were the largest of the week: at most e to the power of minus
 * this.
 */
const MAX_LOG_IMPROBABILITY = 20

/**
 * Builds the blocks of a history by kind. Joins consecutive rows until a block has `minProbes` probes, and drops the
 * rest.
 */
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

/** Adds two counts of the same kind. */
export function addOutcomes<C extends OutcomeSums>(a: C, b: OutcomeSums): C {
  return {
    ...a,
    probes: a.probes + b.probes,
    servfail: a.servfail + b.servfail,
    nxdomain: a.nxdomain + b.nxdomain,
    noWebsite: a.noWebsite + b.noWebsite,
  }
}

/** Whether the blocks of a kind are a sufficient baseline. */
export function isSufficientBaseline(blocks: readonly OutcomeCount[]): boolean {
  if (blocks.length < MIN_BASELINE_BLOCKS) return false
  const hours = blocks.map(({ hour }) => hour)
  return Math.max(...hours) - Math.min(...hours) >= MIN_BASELINE_SECONDS
}

/**
 * Describes in a sentence how the counts of one kind exceed its blocks. Returns null if they do not, are too few, or
 * the kind is not monitored. `nats` and `floor`: the limits of improbability and increase.
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
    const maximum = `${formatPercent(baselineMax)} %`
    return `${SHARE_LABELS[shareKey]} is ${formatPercent(share)} % of the last ${probes} probes (${kind}); the maximum of the last week is ${maximum}`
  }
  return null
}

/**
 * The Kullback-Leibler divergence of an observed from an expected share, in nats. The probability that n probes show
 * this share or a more extreme one is at most e^(-n × divergence) (Chernoff; Hoeffding 1963, theorem 1).
 */
function klDivergence(observed: number, expected: number): number {
  const term = (a: number, b: number): number =>
    a === 0 ? 0 : b === 0 ? Number.POSITIVE_INFINITY : a * Math.log(a / b)
  return term(observed, expected) + term(1 - observed, 1 - expected)
}

function formatPercent(share: number): string {
  return (100 * share).toFixed(1)
}
