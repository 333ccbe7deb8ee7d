/** What the check says of the rows that an engine has read: narrow rows, what names share, and the counters. */

import { digestOfVector, emptyVector, unpackVector } from '../../similar/vector.ts'
import { unpackAddress } from '../../words/address.ts'
import { type Name, slotOf } from '../../words/name.ts'
import type { Fault } from '../store.ts'
import { type CheckedFacts, lookAtFacts } from './facts.ts'
import { type Report, readable, reporter, type Slice, sliceOf } from './slice.ts'

/** What a database says for true and false. */
type Truth = boolean | number

/** Where a row lies: the part of its table, in an engine that has parts, and the one that its key belongs to. */
type Placed = { part?: number; rightPart?: number }
/** `id` is null before the first fact, 0 for a tombstone; `owner` is whose facts lie under it. */
export type CheckedVisit = Placed & { slot: number; name: Name; id: number | null; owner: Name | null }
/** `owned`: its name is there and on that address; `counted`: the address has a counter. */
export type CheckedPresence = Placed & { address: Uint8Array; name: Name; owned: Truth; counted: Truth }
/** `owned`: its source is there and redirects to that target; `counted`: the target has a counter. */
export type CheckedRedirect = Placed & { target: Name; source: Name; owned: Truth; counted: Truth }
/** A counter, and how many rows there are to be counted. */
type Counter = Placed & { counter: number; rows: number }
export type CheckedAddress = Counter & { address: Uint8Array }
export type CheckedTarget = Counter & { target: Name }
/** `digest`: of `vector`; `read`: a start page has it, or it is noted that none may have it any more. */
export type CheckedWording = Placed & { wording: number; read: Truth; digest: number; vector: Uint8Array }

/** Each lies in its slot, and its id is that of the facts of its name. */
export function checkedVisits(rows: readonly CheckedVisit[]): Slice {
  const key = ({ slot, name }: CheckedVisit) => [slot, name]
  return checked('visit', rows, key, ({ slot, name, id, owner }, report) => {
    if (slot !== slotOf(name)) report(`is filed in slot ${slot}`)
    if (id && owner !== name) report(owner === null ? 'has lost its facts' : `has the facts of ${owner}`)
  })
}

/** `ids`: those that any table has rows of, up to the key `last`; `rows`: the facts under them. */
export function checkedFacts(ids: readonly number[], last: string | undefined, rows: Iterable<CheckedFacts>): Slice {
  const faults: Fault[] = []
  const owned = new Set<number>()
  for (const row of rows) {
    if (row.visit !== row.id) continue
    owned.add(row.id)
    const report = reporter(faults, 'visit', row.name)
    readable(report, () => lookAtFacts(row, report))
  }
  for (const id of ids) if (!owned.has(id)) reporter(faults, 'facts', String(id))('belongs to no name')
  return sliceOf(faults, ids.length, last)
}

/** Rows of presence: their name is there, and on that address. */
export function checkedPresence(rows: readonly CheckedPresence[]): Slice {
  const key = ({ address, name }: CheckedPresence) => [hexOf(address), name]
  return checked('presence', rows, key, ({ owned, counted }, report) => {
    if (!owned) report('belongs to no name that is on this address')
    if (!counted) report('belongs to an address without a counter')
  })
}

/** Counters of addresses. */
export function checkedAddresses(rows: readonly CheckedAddress[]): Slice {
  const key = ({ address }: CheckedAddress) => [hexOf(address)]
  return checked('address', rows, key, (row, report) => {
    readable(report, () => unpackAddress(row.address))
    counterCheck(row, report)
  })
}

/** Rows of redirect: their source is there, and redirects to that target. */
export function checkedRedirects(rows: readonly CheckedRedirect[]): Slice {
  const key = ({ target, source }: CheckedRedirect) => [target, source]
  return checked('redirect', rows, key, ({ owned, counted }, report) => {
    if (!owned) report('belongs to no name that redirects there')
    if (!counted) report('belongs to a target without a counter')
  })
}

/** Counters of targets. */
export function checkedTargets(rows: readonly CheckedTarget[]): Slice {
  return checked('target', rows, ({ target }) => [target], counterCheck)
}

/** Wordings: a start page has each. */
export function checkedWordings(rows: readonly CheckedWording[]): Slice {
  return checked(
    'wording',
    rows,
    ({ wording }) => [wording],
    ({ read, digest, vector }, report) => {
      if (!read) report('is that of no start page')
      if (digest !== digestOfVector(vector)) report('has another digest than its vector')
      readable(report, () => unpackVector(vector, emptyVector(0)))
    },
  )
}

function counterCheck({ counter, rows }: Counter, report: Report): void {
  if (counter !== rows || counter === 0) report(`counts ${counter}, has ${rows} rows`)
}

/** `key`: what names a row to people and, with its part, where the next slice begins. */
function checked<Row extends Placed>(
  table: string,
  rows: readonly Row[],
  key: (row: Row) => (string | number)[],
  look: (row: Row, report: Report) => void,
): Slice {
  const faults: Fault[] = []
  for (const row of rows) {
    const report = reporter(faults, table, key(row).join(' '))
    if (row.part !== row.rightPart) report(`is filed in part ${row.part}`)
    look(row, report)
  }
  const last = rows.at(-1)
  return sliceOf(faults, rows.length, last && JSON.stringify([...key(last), last.part]))
}

export function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
