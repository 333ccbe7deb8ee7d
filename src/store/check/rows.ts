/** What the check says of the rows that an engine has read: narrow rows, what names share, and the counters. */

import { unpackAddress } from '../../words/address.ts'
import { type Name, slotOf } from '../../words/name.ts'
import type { Fault } from '../store.ts'
import { type CheckedFacts, lookAtFacts } from './facts.ts'
import { type Report, readable, reporter, type Slice, sliceOf } from './slice.ts'

/** What a database says for true and false. */
type Truth = boolean | number

/** `id` is null before the first fact, 0 for a tombstone; `owner` is whose facts lie under it. */
export type CheckedVisit = { slot: number; name: Name; id: number | null; owner: Name | null; part?: number }
/** `owned`: its name is there and on that address; `counted`: the address has a counter. */
export type CheckedPresence = { address: Uint8Array; name: Name; owned: Truth; counted: Truth; misplaced?: Truth }
/** `owned`: its source is there and redirects to that target; `counted`: the target has a counter. */
export type CheckedRedirect = { target: Name; source: Name; owned: Truth; counted: Truth; misplaced?: Truth }
/** A counter, and how many rows there are to be counted. */
export type CheckedAddress = { address: Uint8Array; counter: number; rows: number; misplaced?: Truth }
export type CheckedTarget = { target: Name; counter: number; rows: number; misplaced?: Truth }

/** Each lies in its slot, and its id is that of the facts of its name. */
export function checkedVisits(rows: readonly CheckedVisit[]): Slice {
  return checked(
    'visit',
    rows,
    ({ name }) => name,
    keyOfVisit,
    ({ slot, name, id, owner, part }, report) => {
      if (slot !== slotOf(name)) report(`is filed in slot ${slot}`)
      if (part !== undefined && part !== slot >> 8) report(`is filed in part ${part}`)
      if (id && owner !== name) report(owner === null ? 'has lost its facts' : `has the facts of ${owner}`)
    },
  )
}

/** `ids`: those that any table has rows of; `rows`: the facts under them. */
export function checkedFacts(ids: readonly number[], rows: Iterable<CheckedFacts>): Slice {
  const faults: Fault[] = []
  const owned = new Set<number>()
  for (const row of rows) {
    if (row.visit !== row.id) continue
    owned.add(row.id)
    const report = reporter(faults, 'visit', row.name)
    readable(report, () => lookAtFacts(row, report))
  }
  for (const id of ids) if (!owned.has(id)) reporter(faults, 'facts', String(id))('belongs to no name')
  return sliceOf(faults, ids.length, ids.at(-1)?.toString())
}

/** Rows of presence: their name is there, and on that address. */
export function checkedPresence(rows: readonly CheckedPresence[]): Slice {
  const words = ({ address, name }: CheckedPresence): string => `${hexOf(address)} ${name}`
  const key = ({ address, name }: CheckedPresence): string => JSON.stringify([hexOf(address), name])
  return checked('presence', rows, words, key, ({ owned, counted, misplaced }, report) => {
    if (!owned) report('belongs to no name that is on this address')
    if (!counted) report('belongs to an address without a counter')
    if (misplaced) report('is filed in another part')
  })
}

/** Counters of addresses. */
export function checkedAddresses(rows: readonly CheckedAddress[]): Slice {
  const key = ({ address }: CheckedAddress): string => hexOf(address)
  return checked('address', rows, key, key, ({ address, ...row }, report) => {
    readable(report, () => unpackAddress(address))
    counterCheck(row, report)
  })
}

/** Rows of redirect: their source is there, and redirects to that target. */
export function checkedRedirects(rows: readonly CheckedRedirect[]): Slice {
  const words = ({ target, source }: CheckedRedirect): string => `${target} ${source}`
  const key = ({ target, source }: CheckedRedirect): string => JSON.stringify([target, source])
  return checked('redirect', rows, words, key, ({ owned, counted, misplaced }, report) => {
    if (!owned) report('belongs to no name that redirects there')
    if (!counted) report('belongs to a target without a counter')
    if (misplaced) report('is filed in another part')
  })
}

/** Counters of targets. */
export function checkedTargets(rows: readonly CheckedTarget[]): Slice {
  const key = ({ target }: CheckedTarget): string => target
  return checked('target', rows, key, key, counterCheck)
}

function counterCheck({ counter, rows, misplaced }: Omit<CheckedTarget, 'target'>, report: Report): void {
  if (counter !== rows || counter === 0) report(`counts ${counter}, has ${rows} rows`)
  if (misplaced) report('is filed in another part')
}

/** `words` names a row to people, `key` is where the next slice begins. */
function checked<Row>(
  table: string,
  rows: readonly Row[],
  words: (row: Row) => string,
  key: (row: Row) => string,
  look: (row: Row, report: Report) => void,
): Slice {
  const faults: Fault[] = []
  for (const row of rows) look(row, reporter(faults, table, words(row)))
  const last = rows.at(-1)
  return sliceOf(faults, rows.length, last && key(last))
}

function keyOfVisit({ slot, name }: CheckedVisit): string {
  return JSON.stringify([slot, name])
}

export function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
