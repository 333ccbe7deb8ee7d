/** Compares a name's facts with themselves and with the rows that were derived from them. */

import type { CurrentFacts } from '../../../apply/crawl-state.ts'
import { addressesOfRecords, MAX_COUNTED_STATES_STORED } from '../../../apply/dns-state.ts'
import { dnsFingerprintOf } from '../../../apply/prepare.ts'
import { ipStatusOf, isOnlyDns } from '../../../apply/resolution.ts'
import { CLOCK_INDEX, PART_NUMBERS, RECORD_TYPE_NUMBERS, recordTypeOfNumber } from '../../../apply/stored-numbers.ts'
import { RECORD_TYPES } from '../../../values/dns-record.ts'
import type { DomainName } from '../../../values/domain-name.ts'
import { compareAddresses, type IpAddress, unpackHex } from '../../../values/ip-address.ts'
import { formatInstant, type Instant } from '../../../values/time.ts'
import { CLOCK_ENTRY_BYTES, type FactsRow, unpackClocks, unpackFacts } from '../columns.ts'
import type { ReportProblem } from './slice.ts'

/** What a database says for true and false. */
type SqlBoolean = 0 | 1 | boolean

/** The facts, and as JSON what hangs on their id: superseded states, first times on addresses, when listed on each address. */
export type CheckedFacts = FactsRow & {
  id: number
  name: DomainName
  stateId: number | null
  clock: Instant
  otherClocks: Uint8Array | null
  dnsFingerprint: number
  /** Whether the row is what was written; true if nothing says what that was. */
  isIntact: SqlBoolean
  superseded: string
  firstSeen: string
  /** Null where `addresses` cannot be read. */
  presenceSince: string | null
  /** The digest of the start page that waits for the index; null where none waits. */
  pendingDigest: string | null
  /** The name that the index has the start page under, and the wording that it has there. */
  documentName: DomainName | null
  document: number | null
  /** Whether that wording is there. */
  hasDocument: SqlBoolean
  hasRedirect: SqlBoolean
}
/** A superseded state. `whole`: 1 with records, 0 with a serial alone; `addresses`: the records of A and AAAA. */
type CheckedState = {
  type: number
  first_seen: Instant
  last_confirmed: Instant
  serial: number | null
  base: Instant | null
  isFull: 0 | 1
  addresses: string | null
}
/** When a name was first seen on each of its addresses, now and ever. */
type FirstSeenByAddress = ReadonlyMap<IpAddress, Instant>

/** Compares one name's facts with all that was derived from them. */
export function checkFactsRow(row: CheckedFacts, report: ReportProblem): void {
  if (!row.isIntact) report('is not what was written')
  const current = unpackFacts(row.name, row)
  const superseded = JSON.parse(row.superseded) as CheckedState[]
  const ever = JSON.parse(row.firstSeen) as [hex: string, since: Instant][]
  const since = new Map(ever.map(([hex, instant]) => [unpackHex(hex), instant]))
  checkDerived(current, report)
  checkClocks(row, current.states, report)
  checkFingerprint(row, current, report)
  checkSuperseded(superseded, current.states, report)
  checkFirstSeen(since, superseded, current.states, report)
  checkPresenceOf(current.addresses, JSON.parse(row.presenceSince ?? '[]'), since, report)
  if (row.redirects_to !== null && !row.hasRedirect) report(`is not among the sources of ${row.redirects_to}`)
  checkPage(row, report)
}

function checkDerived(current: CurrentFacts, report: ReportProblem): void {
  const { status, states, addresses, ip } = current
  const all = [...addressesOfRecords(states.A?.records), ...addressesOfRecords(states.AAAA?.records)].sort(
    compareAddresses,
  )
  const present = status === 'ok' ? all : []
  if (String(present) !== String(addresses)) report('has addresses that its records do not hold')
  if (ip !== ipStatusOf(current, ip !== null)) report(`has ip ${ip} beside other records`)
  if (current.only_dns_no_web !== isOnlyDns(ip, states)) report('has a wrong only_dns_no_web')
}

function checkClocks(
  { clock, otherClocks: late }: CheckedFacts,
  states: CurrentFacts['states'],
  report: ReportProblem,
): void {
  const clocks = unpackClocks(clock, late)
  for (const type of RECORD_TYPES)
    if ((states[type]?.first_seen ?? 0) > clocks[CLOCK_INDEX[type]]!)
      report(`has a clock of ${type} before its newest state`)
  for (let at = 0; late !== null && at < late.length; at += CLOCK_ENTRY_BYTES)
    if (late[at]! > Math.max(...Object.values(PART_NUMBERS)))
      report(`has clock ${late[at]}, which this release does not know`)
}

/** The fingerprint is that of the last dns part, if that was applied whole: of the types that were observed when the status was. */
function checkFingerprint(
  { clock, otherClocks: late, dnsFingerprint }: CheckedFacts,
  { status, states }: CurrentFacts,
  report: ReportProblem,
): void {
  if (dnsFingerprint === 0 || status === null) return
  const clocks = unpackClocks(clock, late)
  const queried = RECORD_TYPES.filter(
    (type) => status === 'ok' && clocks[CLOCK_INDEX[type]] === clocks[CLOCK_INDEX.status],
  )
  const texts = Object.fromEntries(queried.map((type) => [type, states[type]?.records ?? '[]']))
  if (dnsFingerprint !== dnsFingerprintOf({ status, texts })) report('has another fingerprint than its records')
}

/** Superseded states: as many as counted, none confirmed before it began, every serial-only one with its base. */
function checkSuperseded(rows: readonly CheckedState[], states: CurrentFacts['states'], report: ReportProblem): void {
  for (const type of RECORD_TYPES) {
    const kept = rows.filter((row) => row.type === RECORD_TYPE_NUMBERS[type])
    const counted = states[type]?.count ?? 0
    if (Math.min(kept.length + (states[type] ? 1 : 0), MAX_COUNTED_STATES_STORED) !== counted)
      report(`counts ${counted} states of ${type}, keeps ${kept.length} superseded`)
    const bases = new Set(kept.filter(({ isFull: whole }) => whole === 1).map(({ first_seen }) => first_seen))
    if (kept.some(({ isFull: whole, serial, base }) => whole === 0 && (serial === null || !bases.has(base!))))
      report('has a serial without its base')
  }
  if (rows.some(({ type }) => recordTypeOfNumber(type) === undefined))
    report('has a state of a record type that this release does not know')
  if (rows.some(({ first_seen, last_confirmed }) => last_confirmed < first_seen))
    report('has a state that was last confirmed before it began')
}

/** The first time on each address: that of the oldest state that holds it. */
function checkFirstSeen(
  since: FirstSeenByAddress,
  superseded: readonly CheckedState[],
  { A, AAAA }: CurrentFacts['states'],
  report: ReportProblem,
): void {
  const newest = [A, AAAA].filter((state) => state !== undefined)
  const older = superseded.flatMap(({ first_seen, addresses }) =>
    addresses === null ? [] : [{ first_seen, records: addresses }],
  )
  const first = new Map<IpAddress, Instant>()
  for (const { first_seen, records } of [...newest, ...older].sort((a, b) => b.first_seen - a.first_seen))
    for (const address of addressesOfRecords(records)) first.set(address, first_seen)
  const same = since.size === first.size && [...first].every(([address, instant]) => since.get(address) === instant)
  if (!same) report('was first seen on its addresses at other times than its states say')
}

/** `present`: since when it is listed on each address, null where it is not. */
function checkPresenceOf(
  addresses: readonly IpAddress[],
  present: (string | null)[],
  since: FirstSeenByAddress,
  report: ReportProblem,
): void {
  for (const [place, address] of addresses.entries()) {
    const listed = present[place]
    const first = since.get(address)
    if (listed == null) report(`is not listed on ${address}`)
    else if (first === undefined || listed !== formatInstant(first)) report(`has another date on ${address}`)
  }
}

/** A start page waits for the index with the text that it has now; otherwise the index has it just where there is a text. */
function checkPage(
  {
    name,
    text_digest: digest,
    pendingDigest: page,
    documentName: reading,
    document,
    hasDocument: worded,
  }: CheckedFacts,
  report: ReportProblem,
): void {
  if (page !== null && page !== digest) report('has terms of another text')
  if (page === null && digest !== null && reading === null) report('has a start page without terms')
  if (page === null && digest === null && reading !== null) report('has terms without a start page')
  if (reading !== null && reading !== name) report(`has the terms of ${reading}`)
  if (document !== null && !worded) report(`has lost document ${document}`)
}
