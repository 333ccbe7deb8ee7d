/** Compares a name's facts with themselves and with the rows that were derived from them. */

import type { Current } from '../../apply/known.ts'
import { CLOCK_OF, PART_NUMBERS, TYPE_NUMBERS, typeOf } from '../../apply/numbers.ts'
import { dnsPrintOf } from '../../apply/prepare.ts'
import { ipOf, onlyDns } from '../../apply/resolution.ts'
import { addressesOf, COUNTED_STATES } from '../../apply/state.ts'
import { type Address, compareAddresses, unpackHex } from '../../words/address.ts'
import type { Name } from '../../words/name.ts'
import { RECORD_TYPES } from '../../words/record.ts'
import { formatInstant, type Instant } from '../../words/time.ts'
import { type FactsRow, LATE_BYTES, unpackClocks, unpackFacts } from '../columns.ts'
import type { Report } from './slice.ts'

/** What a database says for true and false. */
type Truth = 0 | 1 | boolean

/** The facts, and as JSON what hangs on their id: superseded states, first times on addresses, when listed on each address. */
export type CheckedFacts = FactsRow & {
  id: number
  name: Name
  visit: number | null
  clock: Instant
  late: Uint8Array | null
  dns_print: number
  /** Whether the row is what was written; true if nothing says what that was. */
  whole: Truth
  superseded: string
  ever: string
  /** Null where `addresses` cannot be read. */
  present: string | null
  /** The digest of the start page that waits for the index; null where none waits. */
  page: string | null
  /** The name that the index has the start page under, and the wording that it has there. */
  reading: Name | null
  wording: number | null
  /** Whether that wording is there. */
  worded: Truth
  sourced: Truth
}
/** A superseded state. `whole`: 1 with records, 0 with a serial alone; `addresses`: the records of A and AAAA. */
type Kept = {
  type: number
  first_seen: Instant
  last_confirmed: Instant
  serial: number | null
  base: Instant | null
  whole: 0 | 1
  addresses: string | null
}
/** When a name was first seen on each of its addresses, now and ever. */
type Since = ReadonlyMap<Address, Instant>

/** Compares one name's facts with all that was derived from them. */
export function lookAtFacts(row: CheckedFacts, report: Report): void {
  if (!row.whole) report('is not what was written')
  const current = unpackFacts(row.name, row)
  const superseded = JSON.parse(row.superseded) as Kept[]
  const ever = JSON.parse(row.ever) as [hex: string, since: Instant][]
  const since = new Map(ever.map(([hex, instant]) => [unpackHex(hex), instant]))
  derivedCheck(current, report)
  clocksCheck(row, current.states, report)
  printCheck(row, current, report)
  statesCheck(superseded, current.states, report)
  firstTimesCheck(since, superseded, current.states, report)
  presenceCheck(current.addresses, JSON.parse(row.present ?? '[]'), since, report)
  if (row.redirects_to !== null && !row.sourced) report(`is not among the sources of ${row.redirects_to}`)
  pageCheck(row, report)
}

function derivedCheck(current: Current, report: Report): void {
  const { status, states, addresses, ip } = current
  const all = [...addressesOf(states.A?.records), ...addressesOf(states.AAAA?.records)].sort(compareAddresses)
  const present = status === 'ok' ? all : []
  if (String(present) !== String(addresses)) report('has addresses that its records do not hold')
  if (ip !== ipOf(current, ip !== null)) report(`has ip ${ip} beside other records`)
  if (current.only_dns_no_web !== onlyDns(ip, states)) report('has a wrong only_dns_no_web')
}

function clocksCheck({ clock, late }: CheckedFacts, states: Current['states'], report: Report): void {
  const clocks = unpackClocks(clock, late)
  for (const type of RECORD_TYPES)
    if ((states[type]?.first_seen ?? 0) > clocks[CLOCK_OF[type]]!)
      report(`has a clock of ${type} before its newest state`)
  for (let at = 0; late !== null && at < late.length; at += LATE_BYTES)
    if (late[at]! > Math.max(...Object.values(PART_NUMBERS)))
      report(`has clock ${late[at]}, which this release does not know`)
}

/** The fingerprint is that of the last dns part, if that was applied whole: of the types that were observed when the status was. */
function printCheck({ clock, late, dns_print }: CheckedFacts, { status, states }: Current, report: Report): void {
  if (dns_print === 0 || status === null) return
  const clocks = unpackClocks(clock, late)
  const asked = RECORD_TYPES.filter((type) => status === 'ok' && clocks[CLOCK_OF[type]] === clocks[CLOCK_OF.status])
  const texts = Object.fromEntries(asked.map((type) => [type, states[type]?.records ?? '[]']))
  if (dns_print !== dnsPrintOf({ status, texts })) report('has another fingerprint than its records')
}

/** Superseded states: as many as counted, none confirmed before it began, every serial-only one with its base. */
function statesCheck(rows: readonly Kept[], states: Current['states'], report: Report): void {
  for (const type of RECORD_TYPES) {
    const kept = rows.filter((row) => row.type === TYPE_NUMBERS[type])
    const counted = states[type]?.count ?? 0
    if (Math.min(kept.length + (states[type] ? 1 : 0), COUNTED_STATES) !== counted)
      report(`counts ${counted} states of ${type}, keeps ${kept.length} superseded`)
    const bases = new Set(kept.filter(({ whole }) => whole === 1).map(({ first_seen }) => first_seen))
    if (kept.some(({ whole, serial, base }) => whole === 0 && (serial === null || !bases.has(base!))))
      report('has a serial without its base')
  }
  if (rows.some(({ type }) => typeOf(type) === undefined))
    report('has a state of a record type that this release does not know')
  if (rows.some(({ first_seen, last_confirmed }) => last_confirmed < first_seen))
    report('has a state that was last confirmed before it began')
}

/** The first time on each address: that of the oldest state that holds it. */
function firstTimesCheck(
  since: Since,
  superseded: readonly Kept[],
  { A, AAAA }: Current['states'],
  report: Report,
): void {
  const newest = [A, AAAA].filter((state) => state !== undefined)
  const older = superseded.flatMap(({ first_seen, addresses }) =>
    addresses === null ? [] : [{ first_seen, records: addresses }],
  )
  const first = new Map<Address, Instant>()
  for (const { first_seen, records } of [...newest, ...older].sort((a, b) => b.first_seen - a.first_seen))
    for (const address of addressesOf(records)) first.set(address, first_seen)
  const same = since.size === first.size && [...first].every(([address, instant]) => since.get(address) === instant)
  if (!same) report('was first seen on its addresses at other times than its states say')
}

/** `present`: since when it is listed on each address, null where it is not. */
function presenceCheck(addresses: readonly Address[], present: (string | null)[], since: Since, report: Report): void {
  for (const [place, address] of addresses.entries()) {
    const listed = present[place]
    const first = since.get(address)
    if (listed == null) report(`is not listed on ${address}`)
    else if (first === undefined || listed !== formatInstant(first)) report(`has another date on ${address}`)
  }
}

/** A start page waits for the index with the text that it has now; otherwise the index has it just where there is a text. */
function pageCheck({ name, digest, page, reading, wording, worded }: CheckedFacts, report: Report): void {
  if (page !== null && page !== digest) report('has terms of another text')
  if (page === null && digest !== null && reading === null) report('has a start page without terms')
  if (page === null && digest === null && reading !== null) report('has terms without a start page')
  if (reading !== null && reading !== name) report(`has the terms of ${reading}`)
  if (wording !== null && !worded) report(`has lost wording ${wording}`)
}
