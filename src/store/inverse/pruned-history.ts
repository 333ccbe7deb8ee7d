/** What is left of the stored history of a name without its oldest states, and what has to be removed for that. */

import { addressesOfRecords, MAX_COUNTED_STATES } from '../../apply/dns-state.ts'
import { STATE_TYPE_NUMBERS, STATE_TYPES, stateTypeOfNumber } from '../../apply/stored-numbers.ts'
import type { IpAddress } from '../../values/ip-address.ts'
import type { StateType } from '../../values/state-type.ts'
import type { Instant } from '../../values/time.ts'
import type { PrunedStates, StateCutoffs } from '../port/retention.ts'
import { packStates, unpackStates } from '../shared/columns.ts'
import type { ErasedEntries } from './erase.ts'
import { entriesOfName, type HistoryRow, presentedBy, type StoredHistory } from './name-events.ts'

/**
 * The oldest state of a type that stays. Superseded states that began before it go, and interruptions until its begin.
 * `records`: as in HistoryRow, which a row with the serial alone needs if its base goes; null for the newest state.
 */
type OldestState = { type: number; first_seen: Instant; records: string | null }

export type PrunedHistory = {
  oldest: OldestState[]
  /** How many states go. */
  removedStates: number
  /** The stored newest states with their counts. */
  states: string
  /** The addresses that no remaining state has. */
  addresses: IpAddress[]
  /** The fingerprint of each state of the certificate that goes. */
  certificates: string[]
  /** The events of the inverse index that go, and those that begin the remaining states. */
  erased: ErasedEntries
  added: ReadonlyMap<string, readonly number[]>
}

/** Returns null if nothing of a name is older than the cutoffs. `states`: its stored newest states. */
export function prunedHistory(history: StoredHistory, states: string, cutoffs: StateCutoffs): PrunedHistory | null {
  const oldest = STATE_TYPES.flatMap((type) => oldestKept(history, type, cutoffs[type]) ?? [])
  if (oldest.length === 0) return null
  const begins = new Map(oldest.map(({ type, first_seen }) => [type, first_seen]))
  const isKept = ({ type, first_seen }: HistoryRow): boolean => first_seen >= (begins.get(type) ?? 0)
  const kept: StoredHistory = {
    ...history,
    superseded: history.superseded.filter(isKept),
    interruptions: history.interruptions.filter(({ type, seen_again }) => seen_again > (begins.get(type) ?? 0)),
  }
  const removed = history.superseded.filter((row) => !isKept(row))
  return {
    oldest,
    removedStates: removed.length,
    states: countedStates(kept, states, oldest),
    addresses: lostAddresses(removed, kept),
    certificates: presentedBy({ ...history, states: {}, superseded: removed }),
    ...changedEntries(history, kept),
  }
}

/** Returns null if no state of the type goes. The state that was in force at the cutoff stays. */
function oldestKept({ states, superseded }: StoredHistory, type: StateType, cutoff = 0): OldestState | null {
  const newest = states[type]
  if (newest === undefined) return null
  const number = STATE_TYPE_NUMBERS[type]
  const rows: OldestState[] = superseded.filter((row) => row.type === number)
  rows.push({ type: number, first_seen: newest.first_seen, records: null })
  const index = rows.findLastIndex(({ first_seen }) => first_seen <= cutoff)
  return index > 0 ? rows[index]! : null
}

/** A count that has reached its maximum may have to be counted again. */
function countedStates({ superseded }: StoredHistory, states: string, oldest: readonly OldestState[]): string {
  const newest = unpackStates(states)
  for (const { type: number, first_seen } of oldest) {
    const type = stateTypeOfNumber(number)!
    const count = Math.min(superseded.filter((row) => row.type === number).length + 1, MAX_COUNTED_STATES)
    if (type === 'web') newest.web = { ...newest.web!, count }
    else if (type === 'certificate') newest.certificate = { ...newest.certificate!, count }
    else {
      const { base, ...state } = newest[type]!
      const oldestBase = state.first_seen === first_seen ? null : first_seen
      newest[type] = { ...state, count, base: base !== null && base < first_seen ? oldestBase : base }
    }
  }
  return packStates(newest)
}

function lostAddresses(removed: readonly HistoryRow[], { states, superseded }: StoredHistory): IpAddress[] {
  const newest = [states.A?.records, states.AAAA?.records].flatMap(addressesOfRecords)
  const kept = new Set([...newest, ...superseded.flatMap(addressesOfState)])
  return [...new Set(removed.flatMap(addressesOfState))].filter((address) => !kept.has(address))
}

function addressesOfState({ type, records }: HistoryRow): IpAddress[] {
  return type === STATE_TYPE_NUMBERS.A || type === STATE_TYPE_NUMBERS.AAAA ? addressesOfRecords(records) : []
}

/** The events of one history that the other one lacks, both ways. */
function changedEntries(before: StoredHistory, after: StoredHistory): Pick<PrunedHistory, 'erased' | 'added'> {
  const [former, remaining] = [entriesOfName(before), entriesOfName(after)]
  const erased = new Map<string, ReadonlySet<number>>()
  const added = new Map<string, readonly number[]>()
  for (const [key, events] of former) {
    const left = remaining.get(key) ?? []
    const gone = events.filter((event) => !left.includes(event))
    const begun = left.filter((event) => !events.includes(event))
    if (gone.length > 0) erased.set(key, new Set(gone))
    if (begun.length > 0) added.set(key, begun)
  }
  return { erased, added }
}

export function countPruned(found: readonly { pruned: PrunedHistory }[]): PrunedStates {
  return { names: found.length, states: found.reduce((sum, { pruned }) => sum + pruned.removedStates, 0) }
}

/** The stored number of each type that has a cutoff, and the cutoff. */
export function stateLimits(cutoffs: StateCutoffs): [type: number, cutoff: Instant][] {
  return STATE_TYPES.flatMap((type) => {
    const cutoff = cutoffs[type]
    return cutoff === undefined ? [] : [[STATE_TYPE_NUMBERS[type], cutoff] satisfies [number, Instant]]
  })
}

/** The newest cutoff of each type. `stored`: as in the row; undefined if there is none. */
export function newestCutoffs(stored: string | undefined, cutoffs: StateCutoffs): StateCutoffs {
  const known = parseCutoffs(stored)
  const newest = STATE_TYPES.map((type) => [type, Math.max(known[type] ?? 0, cutoffs[type] ?? 0)] as const)
  return Object.fromEntries(newest.filter(([, cutoff]) => cutoff > 0))
}

export function parseCutoffs(stored: string | undefined): StateCutoffs {
  return stored === undefined ? {} : (JSON.parse(stored) as StateCutoffs)
}
