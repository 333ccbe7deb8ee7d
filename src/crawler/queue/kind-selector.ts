/**
 * Selects the kind of the next probe. Each kind has a share of all probes, and other kinds use what one kind leaves.
 * Pure.
 */

/**
 * `lookup`: a caller looked up an unknown name. `new`: known, but never probed. `followup`: a follow-up file needs new
 * facts. `due`: its next probe is due.
 */
export const PROBE_KINDS = ['lookup', 'new', 'followup', 'due'] as const
export type ProbeKind = (typeof PROBE_KINDS)[number]

/** Relative shares with any sum. A kind with 0 only uses what other kinds leave. */
export type KindShares = Readonly<Record<ProbeKind, number>>

export const DEFAULT_SHARES: KindShares = { lookup: 10, new: 30, followup: 20, due: 40 }

const ROUNDING_TOLERANCE = 1e-9

/** Selects one of the waiting kinds for the next probe. Returns null if none is waiting. */
export type KindSelector = (waiting: readonly ProbeKind[]) => ProbeKind | null

/**
 * Selects the kind with the earliest deadline among those with enough credit (the chairman assignment of Tijdeman
 * 1980). While the same kinds wait, none deviates by a whole probe from its share. A kind that starts to wait has no
 * credit. A kind that stops waiting leaves its credit or debt to the others.
 */
export function createKindSelector(shares: KindShares): KindSelector {
  const credit = new Map<ProbeKind, number>()
  return (waiting) => {
    const competing = waiting.filter((kind) => shares[kind] > 0)
    if (competing.length === 0) return waiting[0] ?? null
    const totalShare = sumShares(competing, shares)
    const leftCredit = removeIdleKinds(credit, competing)
    for (const kind of competing)
      credit.set(kind, (credit.get(kind) ?? 0) + ((1 + leftCredit) * shares[kind]) / totalShare)
    const margin = 1 / Math.max(2 * competing.length - 2, 1)
    const eligible = competing.filter((kind) => credit.get(kind)! >= margin - ROUNDING_TOLERANCE)
    const urgency = (kind: ProbeKind): number => (1 - margin - credit.get(kind)!) / shares[kind]
    const next = (eligible.length > 0 ? eligible : competing).reduce((first, kind) =>
      urgency(kind) < urgency(first) ? kind : first,
    )
    credit.set(next, credit.get(next)! - 1)
    return next
  }
}

/** Removes kinds that stopped waiting. Returns the sum of their credit. */
function removeIdleKinds(credit: Map<ProbeKind, number>, waiting: readonly ProbeKind[]): number {
  let leftCredit = 0
  for (const [kind, part] of credit) {
    if (waiting.includes(kind)) continue
    leftCredit += part
    credit.delete(kind)
  }
  return leftCredit
}

function sumShares(kinds: readonly ProbeKind[], shares: KindShares): number {
  return kinds.reduce((sum, kind) => sum + shares[kind], 0)
}
