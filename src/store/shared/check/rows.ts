/** What the check says of the rows that an engine has read: narrow rows, what names share, and the counters. */

import { emptyTermVector, unpackTermVector, vectorDigest } from '../../../similar/text/term-vector.ts'
import { type DomainName, slotOf } from '../../../values/domain-name.ts'
import { unpackAddress } from '../../../values/ip-address.ts'
import type { CheckFault } from '../../port/store.ts'
import { type CheckedFacts, checkFactsRow } from './facts.ts'
import { type CheckSlice, checkSlice, problemReporter, type ReportProblem, reportIfUnreadable } from './slice.ts'

/** What a database says for true and false. */
type DatabaseBoolean = boolean | number

/** Where a row lies: the part of its table, in an engine that has parts, and the one that its key belongs to. */
type PartitionedRow = { part?: number; rightPart?: number }
/** `id` is null before the first fact, 0 for a tombstone; `owner` is whose facts lie under it. */
export type CheckedCrawlState = PartitionedRow & {
  slot: number
  name: DomainName
  id: number | null
  owner: DomainName | null
}
/** `owned`: its name is there and on that address; `counted`: the address has a counter. */
export type CheckedPresence = PartitionedRow & {
  address: Uint8Array
  name: DomainName
  owned: DatabaseBoolean
  counted: DatabaseBoolean
}
/** `owned`: its source is there and redirects to that target; `counted`: the target has a counter. */
export type CheckedRedirect = PartitionedRow & {
  target: DomainName
  source: DomainName
  owned: DatabaseBoolean
  counted: DatabaseBoolean
}
/** A counter, and how many rows there are to be counted. */
type CheckedCounter = PartitionedRow & { counter: number; rows: number }
export type CheckedAddress = CheckedCounter & { address: Uint8Array }
export type CheckedTarget = CheckedCounter & { target: DomainName }
/** `digest`: of `vector`; `read`: a start page has it, or it is noted that none may have it any more. */
export type CheckedDocument = PartitionedRow & {
  document: number
  isUsed: DatabaseBoolean
  digest: number
  vector: Uint8Array
}

/** Each lies in its slot, and its id is that of the facts of its name. */
export function checkCrawlStateRows(rows: readonly CheckedCrawlState[]): CheckSlice {
  const key = ({ slot, name }: CheckedCrawlState) => [slot, name]
  return checkRows('crawl_state', rows, key, ({ slot, name, id, owner }, report) => {
    if (slot !== slotOf(name)) report(`is filed in slot ${slot}`)
    if (id && owner !== name) report(owner === null ? 'has lost its facts' : `has the facts of ${owner}`)
  })
}

/** `ids`: those that any table has rows of, up to the key `last`; `rows`: the facts under them. */
export function checkFactsRows(
  ids: readonly number[],
  last: string | undefined,
  rows: Iterable<CheckedFacts>,
): CheckSlice {
  const faults: CheckFault[] = []
  const owned = new Set<number>()
  for (const row of rows) {
    if (row.stateId !== row.id) continue
    owned.add(row.id)
    const report = problemReporter(faults, 'crawl_state', row.name)
    reportIfUnreadable(report, () => checkFactsRow(row, report))
  }
  for (const id of ids) if (!owned.has(id)) problemReporter(faults, 'facts', String(id))('belongs to no name')
  return checkSlice(faults, ids.length, last)
}

/** Rows of presence: their name is there, and on that address. */
export function checkPresenceRows(rows: readonly CheckedPresence[]): CheckSlice {
  const key = ({ address, name }: CheckedPresence) => [hexOf(address), name]
  return checkRows('presence', rows, key, ({ owned, counted }, report) => {
    if (!owned) report('belongs to no name that is on this address')
    if (!counted) report('belongs to an address without a counter')
  })
}

/** Counters of addresses. */
export function checkAddressRows(rows: readonly CheckedAddress[]): CheckSlice {
  const key = ({ address }: CheckedAddress) => [hexOf(address)]
  return checkRows('address_count', rows, key, (row, report) => {
    reportIfUnreadable(report, () => unpackAddress(row.address))
    checkCounter(row, report)
  })
}

/** Rows of redirect: their source is there, and redirects to that target. */
export function checkRedirectRows(rows: readonly CheckedRedirect[]): CheckSlice {
  const key = ({ target, source }: CheckedRedirect) => [target, source]
  return checkRows('redirect', rows, key, ({ owned, counted }, report) => {
    if (!owned) report('belongs to no name that redirects there')
    if (!counted) report('belongs to a target without a counter')
  })
}

/** Counters of targets. */
export function checkTargetRows(rows: readonly CheckedTarget[]): CheckSlice {
  return checkRows('redirect_count', rows, ({ target }) => [target], checkCounter)
}

/** Wordings: a start page has each. */
export function checkDocumentRows(rows: readonly CheckedDocument[]): CheckSlice {
  return checkRows(
    'document',
    rows,
    ({ document }) => [document],
    ({ isUsed: read, digest, vector }, report) => {
      if (!read) report('is that of no start page')
      if (digest !== vectorDigest(vector)) report('has another digest than its vector')
      reportIfUnreadable(report, () => unpackTermVector(vector, emptyTermVector(0)))
    },
  )
}

function checkCounter({ counter, rows }: CheckedCounter, report: ReportProblem): void {
  if (counter !== rows || counter === 0) report(`counts ${counter}, has ${rows} rows`)
}

/** `key`: what names a row to people and, with its part, where the next slice begins. */
function checkRows<Row extends PartitionedRow>(
  table: string,
  rows: readonly Row[],
  key: (row: Row) => (string | number)[],
  checkRow: (row: Row, report: ReportProblem) => void,
): CheckSlice {
  const faults: CheckFault[] = []
  for (const row of rows) {
    const report = problemReporter(faults, table, key(row).join(' '))
    if (row.part !== row.rightPart) report(`is filed in part ${row.part}`)
    checkRow(row, report)
  }
  const last = rows.at(-1)
  return checkSlice(faults, rows.length, last && JSON.stringify([...key(last), last.part]))
}

export function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
