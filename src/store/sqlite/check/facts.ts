/** The check of facts: what is filed under one id belongs to one name, agrees with itself, and with the rows that names share. */

import type { DatabaseSync } from 'node:sqlite'
import { type Current, PARTS } from '../../../apply/known.ts'
import { ipOf, onlyDns } from '../../../apply/resolution.ts'
import { addressesOf, COUNTED_STATES } from '../../../apply/state.ts'
import { type Address, compareAddresses, unpackHex } from '../../../words/address.ts'
import type { Name } from '../../../words/name.ts'
import { RECORD_TYPES } from '../../../words/record.ts'
import { formatInstant, type Instant } from '../../../words/time.ts'
import type { Fault } from '../../store.ts'
import { type FactsRow, unpackClocks, unpackFacts } from '../columns.ts'
import { type Report, readable, reporter, SLICE, type Slice, sliceOf } from './slice.ts'

/** The facts, and as JSON what hangs on their id: superseded states, first times on addresses, when listed on each address. */
type Row = FactsRow & {
  id: number
  name: Name
  visit: number | null
  clock: Instant
  late: Uint8Array | null
  superseded: string
  ever: string
  /** Null where `addresses` cannot be read. */
  present: string | null
  page: string | null
  sourced: 0 | 1
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

export function checkFacts(database: DatabaseSync, after: string | null): Slice {
  const ids = idsAfter(database, Number(after ?? -1))
  const faults: Fault[] = []
  const owned = new Set<number>()
  for (const row of rowsOf(database, ids[0] ?? 0, ids.at(-1) ?? 0)) {
    if (row.visit !== row.id) continue
    owned.add(row.id)
    const report = reporter(faults, 'visit', row.name)
    readable(report, () => look(row, report))
  }
  for (const id of ids) if (!owned.has(id)) reporter(faults, 'facts', String(id))('belongs to no name')
  return sliceOf(faults, ids.length, ids.at(-1)?.toString())
}

/** The ids that any table has rows of, ascending. */
function idsAfter(database: DatabaseSync, after: number): number[] {
  const some = (table: string): string =>
    `select * from (select distinct id from ${table} where id > ?1 order by id limit ${SLICE})`
  const rows = database
    .prepare(`${['facts', 'state', 'ever', 'page'].map(some).join(' union ')} order by id limit ${SLICE}`)
    .all(after) as { id: number }[]
  return rows.map(({ id }) => id)
}

function rowsOf(database: DatabaseSync, first: number, last: number): Iterable<Row> {
  const statement = database.prepare(
    `select f.*, v.id as visit, v.clock, v.late,
       (select json_group_array(json_object('type', type, 'first_seen', first_seen, 'last_confirmed', last_confirmed,
          'serial', serial, 'base', base, 'whole', records is not null, 'addresses', iif(type in (0, 1), records, null)))
        from state s where s.id = f.id) as superseded,
       (select json_group_array(json_array(hex(address), since)) from ever e where e.id = f.id) as ever,
       iif(json_valid(f.addresses), (select json_group_array(p.since) from json_each(f.addresses) j
          left join presence p on p.address = unhex(j.value) and p.name = f.name), null) as present,
       (select digest from page g where g.id = f.id) as page,
       exists (select 1 from redirect r where r.target = f.redirects_to and r.source = f.name) as sourced
     from facts f left join visit v on v.slot = slot(f.name) and v.name = f.name
     where f.id between ? and ? order by f.id`,
  )
  return statement.iterate(first, last) as Iterable<never>
}

/** Compares one name's facts with all that was derived from them. */
function look(row: Row, report: Report): void {
  const current = unpackFacts(row)
  const superseded = JSON.parse(row.superseded) as Kept[]
  const ever = JSON.parse(row.ever) as [hex: string, since: Instant][]
  const since = new Map(ever.map(([hex, instant]) => [unpackHex(hex), instant]))
  derivedCheck(current, report)
  clocksCheck(row, current.states, report)
  statesCheck(superseded, current.states, report)
  firstTimesCheck(since, superseded, current.states, report)
  presenceCheck(current.addresses, JSON.parse(row.present ?? '[]'), since, report)
  if (row.redirects_to !== null && !row.sourced) report(`is not among the sources of ${row.redirects_to}`)
  if (row.page !== row.digest) report('has terms of another text')
}

function derivedCheck(current: Current, report: Report): void {
  const { status, states, addresses, ip } = current
  const all = [...addressesOf(states.A?.records), ...addressesOf(states.AAAA?.records)].sort(compareAddresses)
  const present = status === 'ok' ? all : []
  if (String(present) !== String(addresses)) report('has addresses that its records do not hold')
  if (ip !== ipOf(current, ip !== null)) report(`has ip ${ip} beside other records`)
  if (current.only_dns_no_web !== onlyDns(ip, states)) report('has a wrong only_dns_no_web')
}

function clocksCheck({ clock, late }: Row, states: Current['states'], report: Report): void {
  const clocks = unpackClocks(clock, late)
  for (const type of RECORD_TYPES)
    if ((states[type]?.first_seen ?? 0) > clocks[PARTS.indexOf(type)]!)
      report(`has a clock of ${type} before its newest state`)
}

/** Superseded states: as many as counted, none confirmed before it began, every serial-only one with its base. */
function statesCheck(rows: readonly Kept[], states: Current['states'], report: Report): void {
  for (const [place, type] of RECORD_TYPES.entries()) {
    const kept = rows.filter((row) => row.type === place)
    const counted = states[type]?.count ?? 0
    if (Math.min(kept.length + (states[type] ? 1 : 0), COUNTED_STATES) !== counted)
      report(`counts ${counted} states of ${type}, keeps ${kept.length} superseded`)
    const bases = new Set(kept.filter(({ whole }) => whole === 1).map(({ first_seen }) => first_seen))
    if (kept.some(({ whole, serial, base }) => whole === 0 && (serial === null || !bases.has(base!))))
      report('has a serial without its base')
  }
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
