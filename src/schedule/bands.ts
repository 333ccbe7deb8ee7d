/** Bands: whether more names fail, are gone or have lost their website than in the week before. Pure. */

import type { Outcomes } from '../store/schedule.ts'
import type { Past } from './past.ts'

/** The shares that are watched, by the name of their count. */
const SHARES = { servfail: 'servfail', nxdomain: 'nxdomain', none: 'no website' } as const
type Share = keyof typeof SHARES

/**
 * The shares that are watched of names with this past. Names that are new, that failed or that changed lately are not judged:
 * what they come to changes with the lists that are imported, and with the waves in which such names come up again.
 */
const WATCHED: Partial<Record<string, readonly Share[]>> = {
  website: ['servfail', 'nxdomain', 'none'],
  dns: ['servfail', 'nxdomain'],
} satisfies Partial<Record<Past, readonly Share[]>>

/** Visits of a kind, and how many of them came to each. */
export type Counts = Omit<Outcomes, 'hour'>

/** Visits of one block of the week, at least: an hour, or as many as it takes. */
const BLOCK = 2_000
/** No band without so many blocks, on so many seconds at least. */
const LEAST_BLOCKS = 12
const LEAST_SPAN = 86_400
/** Fewer visits of a kind are not judged: where others are nearly all that comes up, those few are no sample of their kind. */
export const LEAST_VISITS = 200
/** How far above all that the week had a share must be, in parts of all visits, whatever the number of visits. */
const FLOOR = 0.02
/**
 * And how improbable, were its true value the largest of the week: e to the power of minus this, at most.
 */
const NATS = 20

/** The blocks of a history, by kind: consecutive rows put together until they have `least` visits; what is left over is dropped. */
export function blocksOf(history: readonly Outcomes[], least = BLOCK): Outcomes[] {
  const blocks: Outcomes[] = []
  const open = new Map<string, Outcomes>()
  for (const row of history.toSorted((a, b) => a.hour - b.hour)) {
    const block = add(open.get(row.kind) ?? { ...row, visits: 0, servfail: 0, nxdomain: 0, none: 0 }, row)
    if (block.visits < least) open.set(row.kind, { ...block, hour: row.hour })
    else {
      open.delete(row.kind)
      blocks.push({ ...block, hour: row.hour })
    }
  }
  return blocks
}

/** Counts of the same kind put together. */
export function add<C extends Counts>(a: C, b: Counts): C {
  return {
    ...a,
    visits: a.visits + b.visits,
    servfail: a.servfail + b.servfail,
    nxdomain: a.nxdomain + b.nxdomain,
    none: a.none + b.none,
  }
}

/** Whether the blocks of a kind are enough of a history to judge by. */
export function isEnough(blocks: readonly Outcomes[]): boolean {
  if (blocks.length < LEAST_BLOCKS) return false
  const hours = blocks.map(({ hour }) => hour)
  return Math.max(...hours) - Math.min(...hours) >= LEAST_SPAN
}

/**
 * Why the counts of one kind lie above what its blocks had, a sentence; null where they do not, are too few, or of a kind
 * that is not judged. `nats` and `floor`: how improbable and how far above is too much.
 */
export function whyOutside(
  counts: Counts,
  blocks: readonly Counts[],
  { nats = NATS, floor = FLOOR }: { nats?: number; floor?: number } = {},
): string | null {
  const { kind, visits } = counts
  if (visits < LEAST_VISITS || blocks.length === 0) return null
  for (const share of WATCHED[kind] ?? []) {
    const most = Math.max(...blocks.map((block) => block[share] / block.visits))
    const part = counts[share] / visits
    if (part - most <= floor || visits * divergence(part, most) <= nats) continue
    const week = `${percent(most)} % at most`
    return `${SHARES[share]} is ${percent(part)} % of the last ${visits} visits (${kind}), where the week had ${week}`
  }
  return null
}

/**
 * Of a share from a true one, in nats (Kullback and Leibler): n visits show this share or one further off with a probability
 * of at most e to the power of minus n times this (Chernoff; Hoeffding 1963, theorem 1).
 */
function divergence(part: number, truth: number): number {
  const term = (a: number, b: number): number =>
    a === 0 ? 0 : b === 0 ? Number.POSITIVE_INFINITY : a * Math.log(a / b)
  return term(part, truth) + term(1 - part, 1 - truth)
}

function percent(part: number): string {
  return (100 * part).toFixed(1)
}
