/** Whose turn it is: each kind of visit has a share of all of them, and what one kind leaves is lent to the others. Pure. */

/**
 * `asked`: a caller looked up a name that was not known. `fresh`: known, and never visited. `followup`: a file of the night
 * needs fresh facts. `due`: its time has come again.
 */
export const KINDS = ['asked', 'fresh', 'followup', 'due'] as const
export type Kind = (typeof KINDS)[number]

/** Parts of the whole, whatever their sum; 0 is for what may only borrow. */
export type Shares = Readonly<Record<Kind, number>>

export const SHARES: Shares = { asked: 10, fresh: 30, followup: 20, due: 40 }

const ROUNDING = 1e-9

/** Gives the next turn to one of the kinds that have somebody waiting; null where none has. */
export type NextTurn = (waiting: readonly Kind[]) => Kind | null

/**
 * The kind that would lose a whole turn soonest, of those that are owed a part of one (the chairman assignment of Tijdeman
 * 1980): while the same kinds wait, none is ever a whole turn off its share. Who comes to wait is owed nothing, and who
 * leaves hands what it was owed, or owes, to those that stay.
 */
export function turnsBy(shares: Shares): NextTurn {
  const owed = new Map<Kind, number>()
  return (waiting) => {
    const paying = waiting.filter((kind) => shares[kind] > 0)
    if (paying.length === 0) return waiting[0] ?? null
    const whole = sumOf(paying, shares)
    const left = leave(owed, paying)
    for (const kind of paying) owed.set(kind, (owed.get(kind) ?? 0) + ((1 + left) * shares[kind]) / whole)
    const margin = 1 / Math.max(2 * paying.length - 2, 1)
    const eligible = paying.filter((kind) => owed.get(kind)! >= margin - ROUNDING)
    const urgency = (kind: Kind): number => (1 - margin - owed.get(kind)!) / shares[kind]
    const next = (eligible.length > 0 ? eligible : paying).reduce((first, kind) =>
      urgency(kind) < urgency(first) ? kind : first,
    )
    owed.set(next, owed.get(next)! - 1)
    return next
  }
}

/** Takes out who does not wait any more; the sum of what they were owed. */
function leave(owed: Map<Kind, number>, waiting: readonly Kind[]): number {
  let left = 0
  for (const [kind, part] of owed) {
    if (waiting.includes(kind)) continue
    left += part
    owed.delete(kind)
  }
  return left
}

function sumOf(kinds: readonly Kind[], shares: Shares): number {
  return kinds.reduce((sum, kind) => sum + shares[kind], 0)
}
