/** Checks rows that an engine has read: crawl states, shared rows and counters. */

import { emptyTermVector, unpackTermVector, vectorDigest } from '../../../similar/text/term-vector.ts'
import { type DomainName, slotOf } from '../../../values/domain-name.ts'
import { unpackAddress } from '../../../values/ip-address.ts'
import type { Instant } from '../../../values/time.ts'
import type { CheckFault } from '../../port/store.ts'
import { TOMBSTONE_ID } from '../columns.ts'
import { type CheckedFacts, checkFactsRow } from './facts.ts'
import {
  type CheckSlice,
  checkSlice,
  type DatabaseBoolean,
  problemReporter,
  type ReportProblem,
  reportIfUnreadable,
} from './slice.ts'

/** The partition of a row and that of its key, in an engine with partitions. */
type PartitionedRow = { part?: number; rightPart?: number }
/** `id`: null before the first fact, 0 for a tombstone. `owner`: the name of the facts with this id. */
export type CheckedCrawlState = PartitionedRow & {
  slot: number
  name: DomainName
  id: number | null
  clock: Instant
  owner: DomainName | null
}
/** `owned`: its name exists and is on that address. `counted`: the address has a counter. */
export type CheckedPresence = PartitionedRow & {
  address: Uint8Array
  name: DomainName
  owned: DatabaseBoolean
  counted: DatabaseBoolean
}
/** `owned`: its source exists and redirects to that target. `counted`: the target has a counter. */
export type CheckedRedirect = PartitionedRow & {
  target: DomainName
  source: DomainName
  owned: DatabaseBoolean
  counted: DatabaseBoolean
}
/** A counter and the number of rows that it should count. */
type CheckedCounter = PartitionedRow & { counter: number; rows: number }
export type CheckedAddress = CheckedCounter & { address: Uint8Array }
export type CheckedTarget = CheckedCounter & { target: DomainName }
/**
 * `digest`: the stored digest of `vector`. `isUsed`: a start page has the document, or it is marked as possibly unused.
 */
export type CheckedDocument = PartitionedRow & {
  document: number
  isUsed: DatabaseBoolean
  digest: number
  vector: Uint8Array
}

/** Each row is in the slot of its name, and its id is that of the facts of its name. */
export function checkCrawlStateRows(rows: readonly CheckedCrawlState[]): CheckSlice {
  const key = ({ slot, name }: CheckedCrawlState) => [slot, name]
  return checkRows('crawl_state', rows, key, ({ slot, name, id, clock, owner }, report) => {
    if (slot !== slotOf(name)) report(`is stored in slot ${slot}`)
    if (id === TOMBSTONE_ID && clock !== 0) report('was forgotten, and has a clock')
    if (id && owner !== name) report(owner === null ? 'has lost its facts' : `has the facts of ${owner}`)
  })
}

/**
 * `ids`: those of the rows of all tables up to the key `last`. `rows`: the facts with these ids. `keys`: what names each
 * id in a fault; by default the id.
 */
export function checkFactsRows(
  ids: readonly number[],
  last: string | undefined,
  rows: Iterable<CheckedFacts>,
  keys: readonly string[] = ids.map(String),
): CheckSlice {
  const faults: CheckFault[] = []
  const owned = new Set<number>()
  for (const row of rows) {
    if (row.stateId !== row.id) continue
    owned.add(row.id)
    const report = problemReporter(faults, 'crawl_state', row.name)
    const reportFacts = problemReporter(faults, 'facts', row.name)
    if (!row.isIntact) reportFacts('does not match its checksum')
    reportIfUnreadable(reportFacts, () => checkFactsRow(row, report))
  }
  for (const [index, id] of ids.entries())
    if (!owned.has(id)) problemReporter(faults, 'facts', keys[index]!)('belongs to no name')
  return checkSlice(faults, ids.length, last)
}

/** Rows of presence: their name exists and is on that address. */
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

/** Rows of redirect: their source exists and redirects to that target. */
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

/** Documents: each is that of a start page. */
export function checkDocumentRows(rows: readonly CheckedDocument[]): CheckSlice {
  const key = ({ document }: CheckedDocument) => [document]
  return checkRows(
    'document',
    rows,
    key,
    ({ isUsed, digest, vector }, report) => {
      if (!isUsed) report('belongs to no start page')
      if (digest !== vectorDigest(vector)) report('has a digest that does not match its vector')
      reportIfUnreadable(report, () => unpackTermVector(vector, emptyTermVector(0)))
    },
    key, // engines read documents in the order of their numbers
  )
}

function checkCounter({ counter, rows }: CheckedCounter, report: ReportProblem): void {
  if (counter !== rows || counter === 0) report(`counts ${counter}, has ${rows} rows`)
}

/** `key`: identifies a row in messages. `position`: where the next slice starts; by default after partition and key. */
function checkRows<Row extends PartitionedRow>(
  table: string,
  rows: readonly Row[],
  key: (row: Row) => (string | number)[],
  checkRow: (row: Row, report: ReportProblem) => void,
  position = (row: Row) => (row.part === undefined ? key(row) : [row.part, ...key(row)]),
): CheckSlice {
  const faults: CheckFault[] = []
  for (const row of rows) {
    const report = problemReporter(faults, table, key(row).join(' '))
    if (row.part !== row.rightPart) report(`is stored in partition ${row.part}`)
    checkRow(row, report)
  }
  const last = rows.at(-1)
  return checkSlice(faults, rows.length, last && JSON.stringify(position(last)))
}

export function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
