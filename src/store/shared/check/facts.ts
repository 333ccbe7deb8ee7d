/** Checks a name's facts and the rows that are derived from them. */

import type { CurrentFacts } from '../../../apply/crawl-state.ts'
import { addressesOfRecords, MAX_COUNTED_STATES } from '../../../apply/dns-state.ts'
import { dnsFingerprintOf } from '../../../apply/prepare.ts'
import { ipStatusOf, isOnlyDns } from '../../../apply/resolution.ts'
import {
  CLOCK_INDEX,
  PART_NUMBERS,
  recordTypeOfNumber,
  STATE_TYPE_NUMBERS,
  STATE_TYPES,
  stateTypeOfNumber,
} from '../../../apply/stored-numbers.ts'
import type { DomainName } from '../../../values/domain-name.ts'
import { compareAddresses, type IpAddress, unpackHex } from '../../../values/ip-address.ts'
import { RECORD_TYPES } from '../../../values/records/dns-record.ts'
import { formatInstant, type Instant } from '../../../values/time.ts'
import { CLOCK_ENTRY_BYTES, type FactsRow, unpackClocks, unpackFacts, unpackStates } from '../columns.ts'
import type { DatabaseBoolean, ReportProblem } from './slice.ts'
import { isUnreadable } from './unreadable.ts'

/**
 * The facts, and as JSON the rows of their id: superseded states, interruptions, first times on addresses, dates on each
 * address.
 */
export type CheckedFacts = FactsRow & {
  id: number
  name: DomainName
  stateId: number | null
  clock: Instant
  otherClocks: Uint8Array | null
  dnsFingerprint: number
  /** Whether the row's checksum matches; true if the row has none. */
  isIntact: DatabaseBoolean
  superseded: string
  interruptions: string
  firstSeen: string
  /** Null if `addresses` cannot be read. */
  presenceSince: string | null
  /** The digest of the pending start page; null if none is pending. */
  pendingDigest: string | null
  /** The name and the document that the index has for the start page. */
  documentName: DomainName | null
  document: number | null
  /** Whether that document exists. */
  hasDocument: DatabaseBoolean
  hasRedirect: DatabaseBoolean
}
/** A superseded state. `isFull`: 1 with records, 0 with a serial only. `addresses`: the records of A and AAAA. */
type CheckedState = {
  type: number
  first_seen: Instant
  last_confirmed: Instant
  serial: number | null
  base: Instant | null
  isFull: 0 | 1
  addresses: string | null
}
/** When a name was first seen on each address that it ever had. */
type FirstSeenByAddress = ReadonlyMap<IpAddress, Instant>

/**
 * What follows from the facts of a name: the first time on each address that it ever had, the addresses that it is on
 * now, and the target that it redirects to.
 */
export type DerivedRows = {
  firstSeen: FirstSeenByAddress
  addresses: readonly IpAddress[]
  redirectsTo: DomainName | null
}

/** The rows that follow from facts. Throws if they cannot be read. */
export function derivedRowsOf(row: CheckedFacts): DerivedRows {
  const { states, addresses } = unpackFacts(row.name, row)
  const firstSeen = firstSeenInStates(JSON.parse(row.superseded), states, readableFirstSeenOf(row))
  return { firstSeen, addresses, redirectsTo: row.redirects_to as DomainName | null }
}

function storedFirstSeenOf({ firstSeen }: CheckedFacts): FirstSeenByAddress {
  const rows = JSON.parse(firstSeen) as [hex: string, firstSeen: Instant][]
  return new Map(rows.map(([hex, instant]) => [unpackHex(hex), instant]))
}

/** None if one of them cannot be read. */
function readableFirstSeenOf(row: CheckedFacts): FirstSeenByAddress {
  try {
    return storedFirstSeenOf(row)
  } catch (error) {
    if (!isUnreadable(error)) throw error
    return new Map()
  }
}

/** Checks one name's facts and all rows that are derived from them. */
export function checkFactsRow(row: CheckedFacts, report: ReportProblem): void {
  const current = unpackFacts(row.name, row)
  const superseded = JSON.parse(row.superseded) as CheckedState[]
  const firstSeen = storedFirstSeenOf(row)
  checkDerived(current, report)
  checkClocks(row, current.states, report)
  checkFingerprint(row, current, report)
  checkSuperseded(superseded, current.states, report)
  checkInterruptions(JSON.parse(row.interruptions), superseded, row, report)
  checkFirstSeen(firstSeen, superseded, current.states, report)
  checkPresenceOf(current.addresses, JSON.parse(row.presenceSince ?? '[]'), firstSeen, report)
  if (row.redirects_to !== null && !row.hasRedirect) report(`is not among the sources of ${row.redirects_to}`)
  checkPage(row, report)
}

function checkDerived(current: CurrentFacts, report: ReportProblem): void {
  const { status, states, addresses, ip } = current
  const recorded = [...addressesOfRecords(states.A?.records), ...addressesOfRecords(states.AAAA?.records)].sort(
    compareAddresses,
  )
  const present = status === 'ok' ? recorded : []
  if (String(present) !== String(addresses)) report('has addresses that are not in its records')
  if (ip !== ipStatusOf(current, ip !== null)) report(`has ip ${ip}, which its records contradict`)
  if (current.only_dns_no_web !== isOnlyDns(ip, states)) report('has a wrong only_dns_no_web')
}

function checkClocks(
  { clock, otherClocks }: CheckedFacts,
  states: CurrentFacts['states'],
  report: ReportProblem,
): void {
  const clocks = unpackClocks(clock, otherClocks)
  for (const type of RECORD_TYPES)
    if ((states[type]?.first_seen ?? 0) > clocks[CLOCK_INDEX[type]]!)
      report(`has a clock of ${type} before its newest state`)
  for (let offset = 0; otherClocks !== null && offset < otherClocks.length; offset += CLOCK_ENTRY_BYTES)
    if (otherClocks[offset]! > Math.max(...Object.values(PART_NUMBERS)))
      report(`has clock ${otherClocks[offset]}, which this release does not know`)
}

/**
 * The fingerprint is that of the last DNS part if it was applied whole: of the types with the same clock as the status.
 */
function checkFingerprint(
  { clock, otherClocks, dnsFingerprint }: CheckedFacts,
  { status, states }: CurrentFacts,
  report: ReportProblem,
): void {
  if (dnsFingerprint === 0 || status === null) return
  const clocks = unpackClocks(clock, otherClocks)
  const queried = RECORD_TYPES.filter(
    (type) => status === 'ok' && clocks[CLOCK_INDEX[type]] === clocks[CLOCK_INDEX.status],
  )
  const texts = Object.fromEntries(queried.map((type) => [type, states[type]?.records ?? '[]']))
  if (dnsFingerprint !== dnsFingerprintOf({ status, texts }))
    report('has a fingerprint that does not match its records')
}

/** Superseded states: as many as counted, none confirmed before it began, every serial-only one with its base. */
function checkSuperseded(rows: readonly CheckedState[], states: CurrentFacts['states'], report: ReportProblem): void {
  for (const type of STATE_TYPES) {
    const superseded = rows.filter((row) => row.type === STATE_TYPE_NUMBERS[type])
    const counted = states[type]?.count ?? 0
    if (Math.min(superseded.length + (states[type] ? 1 : 0), MAX_COUNTED_STATES) !== counted)
      report(`counts ${counted} states of ${type}, has ${superseded.length} superseded`)
    const bases = new Set(superseded.filter(({ isFull }) => isFull === 1).map(({ first_seen }) => first_seen))
    if (superseded.some(({ isFull, serial, base }) => isFull === 0 && (serial === null || !bases.has(base!))))
      report('has a serial without its base')
  }
  if (rows.some(({ type }) => stateTypeOfNumber(type) === undefined))
    report('has a state of a type that this release does not know')
  if (rows.some(({ first_seen, last_confirmed }) => last_confirmed < first_seen))
    report('has a state that was last confirmed before it began')
}

/** An interruption ends after it begins, at an observation of its type, and is of a type that has a state. */
function checkInterruptions(
  rows: readonly [type: number, last_seen: Instant, seen_again: Instant][],
  superseded: readonly CheckedState[],
  { clock, otherClocks, states }: CheckedFacts,
  report: ReportProblem,
): void {
  if (rows.length === 0) return
  const clocks = unpackClocks(clock, otherClocks)
  const current = unpackStates(states)
  for (const [number, last_seen, seen_again] of rows) {
    const type = recordTypeOfNumber(number)
    if (type === undefined) report('has an interruption of a record type that this release does not know')
    else if (last_seen >= seen_again || seen_again > clocks[CLOCK_INDEX[type]]!)
      report(`has an interruption of ${type} at a time when it cannot be`)
    else if (!current[type] && superseded.every((row) => row.type !== number))
      report(`has an interruption of ${type} without a state`)
  }
}

/**
 * The first time on each address is that of the oldest state with this address. If older states were removed, it may be
 * before all states of its type.
 */
function checkFirstSeen(
  firstSeen: FirstSeenByAddress,
  superseded: readonly CheckedState[],
  states: CurrentFacts['states'],
  report: ReportProblem,
): void {
  const first = firstSeenInStates(superseded, states, firstSeen)
  const isSame =
    firstSeen.size === first.size && [...first].every(([address, instant]) => firstSeen.get(address) === instant)
  if (!isSame) report('has first times on its addresses that do not match its states')
}

/**
 * The first time on each address: that of the oldest state with it. If older states were removed, the stored time may be
 * before all states of its type; then it counts.
 */
function firstSeenInStates(
  superseded: readonly CheckedState[],
  { A, AAAA }: CurrentFacts['states'],
  stored: FirstSeenByAddress,
): Map<IpAddress, Instant> {
  const all = new Map<IpAddress, Instant>()
  for (const [type, newest] of [['A', A] as const, ['AAAA', AAAA] as const]) {
    const older = superseded.filter((row) => row.type === STATE_TYPE_NUMBERS[type])
    const states = [...(newest ? [newest] : []), ...older.map((row) => ({ ...row, records: row.addresses ?? '[]' }))]
    states.sort((a, b) => b.first_seen - a.first_seen)
    const first = new Map<IpAddress, Instant>()
    for (const { first_seen, records } of states)
      for (const address of addressesOfRecords(records)) first.set(address, first_seen)
    const oldest = states.at(-1)?.first_seen ?? 0
    for (const [address, instant] of first) {
      const known = stored.get(address)
      all.set(address, known !== undefined && known < oldest ? known : instant)
    }
  }
  return all
}

/** `present`: the date on each address; null if the name is not listed there. */
function checkPresenceOf(
  addresses: readonly IpAddress[],
  present: (string | null)[],
  firstSeen: FirstSeenByAddress,
  report: ReportProblem,
): void {
  for (const [index, address] of addresses.entries()) {
    const listedSince = present[index]
    const oldest = firstSeen.get(address)
    if (listedSince == null) report(`is not listed on ${address}`)
    else if (oldest === undefined || listedSince !== formatInstant(oldest)) report(`has a different date on ${address}`)
  }
}

/** A pending start page has the current text. Otherwise the index has the page if and only if it has a text. */
function checkPage(
  { name, text_digest, pendingDigest, documentName, document, hasDocument }: CheckedFacts,
  report: ReportProblem,
): void {
  if (pendingDigest !== null && pendingDigest !== text_digest) report('has terms of another text')
  if (pendingDigest === null && text_digest !== null && documentName === null) report('has a start page without terms')
  if (pendingDigest === null && text_digest === null && documentName !== null) report('has terms without a start page')
  if (documentName !== null && documentName !== name) report(`has the terms of ${documentName}`)
  if (document !== null && !hasDocument) report(`has lost document ${document}`)
}
