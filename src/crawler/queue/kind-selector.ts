/** Whose turn it is: each kind of visit has a share of all of them, and what one kind leaves is lent to the others. Pure. */

/**
 * `asked`: a caller looked up a name that was not known. `fresh`: known, and never visited. `followup`: a file of the night
 * needs fresh facts. `due`: its time has come again.
 */
export const PROBE_KINDS = ['lookup', 'new', 'followup', 'due'] as const
export type ProbeKind = (typeof PROBE_KINDS)[number]

/** Parts of the whole, whatever their sum; 0 is for what may only borrow. */
export type KindShares = Readonly<Record<ProbeKind, number>>

export const DEFAULT_SHARES: KindShares = { lookup: 10, new: 30, followup: 20, due: 40 }

const ROUNDING_TOLERANCE = 1e-9

/** Gives the next turn to one of the kinds that have somebody waiting; null where none has. */
export type KindSelector = (waiting: readonly ProbeKind[]) => ProbeKind | null

/**
 * The kind that would lose a whole turn soonest, of those that are owed a part of one (the chairman assignment of Tijdeman
 * 1980): while the same kinds wait, none is ever a whole turn off its share. Who comes to wait is owed nothing, and who
 * leaves hands what it was owed, or owes, to those that stay.
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

/** Takes out who does not wait any more; the sum of what they were owed. */
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
