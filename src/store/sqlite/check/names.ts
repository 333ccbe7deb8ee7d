/** The check of names: the facts, the states and the shared rows of each agree with each other. */

import type { DatabaseSync } from 'node:sqlite'
import { type Current, PARTS } from '../../../apply/known.ts'
import { ipOf, onlyDns } from '../../../apply/resolution.ts'
import { addressesOf, COUNTED_STATES } from '../../../apply/state.ts'
import { type Address, compareAddresses, packAddress, unpackAddress } from '../../../words/address.ts'
import { type Name, slotOf } from '../../../words/name.ts'
import { RECORD_TYPES } from '../../../words/record.ts'
import { formatInstant, type Instant } from '../../../words/time.ts'
import type { Fault } from '../../store.ts'
import { type FactsRow, unpackClocks, unpackFacts } from '../columns.ts'

/** What a part found in one slice; `last` is null where its table ended. */
export type Slice = { faults: Fault[]; checked: number; last: string | null }

/** Rows a slice: some 10 milliseconds. */
export const SLICE = 500

/** `id` is null before the first fact, 0 for a tombstone. */
type Key = { slot: number; name: Name; id: number | null; clock: Instant; late: Uint8Array | null }
/** Notes one thing that is wrong. */
export type Report = (problem: string) => void

export function checkNames(database: DatabaseSync, after: string | null): Slice {
  const [slot, name] = after === null ? [-1, ''] : (JSON.parse(after) as [number, string])
  const keys = database
    .prepare(
      `select slot, name, id, clock, late from visit where (slot, name) > (?, ?) order by slot, name limit ${SLICE}`,
    )
    .all(slot, name) as Key[]
  const faults: Fault[] = []
  const factsOf = database.prepare('select * from facts where id = ?')
  const look = lookAt(database)
  for (const key of keys) {
    const report = (problem: string): void => void faults.push({ table: 'visit', key: key.name, problem })
    if (key.slot !== slotOf(key.name)) report(`is filed in slot ${key.slot}`)
    const { id } = key
    if (!id) continue
    const row = factsOf.get(id) as ({ name: Name } & FactsRow) | undefined
    if (row?.name !== key.name) report(row ? `has the facts of ${row.name}` : 'has lost its facts')
    else readable(report, () => look(id, key, unpackFacts(row), report))
  }
  const last = keys.at(-1)
  return { faults, checked: keys.length, last: keys.length < SLICE ? null : JSON.stringify([last!.slot, last!.name]) }
}

/** Runs a part of the check; a value in which nothing can be read is a fault of its row, and no end to the check. */
export function readable(report: Report, part: () => void): void {
  try {
    part()
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_SQLITE_ERROR') throw error
    report(`cannot be read: ${(error as Error).message}`)
  }
}

function clocksCheck({ clock, late }: Key, states: Current['states'], report: Report): void {
  const clocks = unpackClocks(clock, late)
  for (const type of RECORD_TYPES)
    if ((states[type]?.first_seen ?? 0) > clocks[PARTS.indexOf(type)]!)
      report(`has a clock of ${type} before its newest state`)
}

/** Compares one name's facts with all that was derived from them. */
function lookAt(database: DatabaseSync): (id: number, key: Key, current: Current, report: Report) => void {
  const presence = presenceCheck(database)
  const states = statesCheck(database)
  const first = firstTimesCheck(database)
  const redirect = database.prepare('select 1 from redirect where target = ? and source = ?')
  const page = database.prepare('select digest from page where id = ?')
  return (id, key, current, report) => {
    const { name } = key
    derivedCheck(current, report)
    clocksCheck(key, current.states, report)
    presence(id, name, current.addresses, report)
    states(id, current.states, report)
    first(id, current.states, report)
    const target = current.web?.redirects_to
    if (target && !redirect.get(target, name)) report(`is not among the sources of ${target}`)
    const kept = page.get(id) as { digest: string } | undefined
    if ((kept?.digest ?? null) !== (current.web?.digest ?? null)) report('has terms of another text')
  }
}

function derivedCheck(current: Current, report: Report): void {
  const { status, states, addresses, ip } = current
  const all = [...addressesOf(states.A?.records), ...addressesOf(states.AAAA?.records)].sort(compareAddresses)
  const present = status === 'ok' ? all : []
  if (String(present) !== String(addresses)) report('has addresses that its records do not hold')
  if (ip !== ipOf(current, ip !== null)) report(`has ip ${ip} beside other records`)
  if (current.only_dns_no_web !== onlyDns(ip, states)) report('has a wrong only_dns_no_web')
}

function presenceCheck(database: DatabaseSync) {
  const present = database.prepare('select since from presence where address = ? and name = ?')
  const first = database.prepare('select since from ever where id = ? and address = ?')
  return (id: number, name: Name, addresses: readonly Address[], report: Report): void => {
    for (const address of addresses) {
      const key = packAddress(address)
      const row = present.get(key, name) as { since: string } | undefined
      const ever = first.get(id, key) as { since: number } | undefined
      if (!row) report(`is not listed on ${address}`)
      else if (!ever || row.since !== formatInstant(ever.since)) report(`has another date on ${address}`)
    }
  }
}

/** The first time on each address: that of the oldest state that holds it. */
function firstTimesCheck(database: DatabaseSync) {
  const superseded = database.prepare('select first_seen, records from state where id = ? and type in (0, 1)')
  const ever = database.prepare('select address, since from ever where id = ?')
  return (id: number, { A, AAAA }: Current['states'], report: Report): void => {
    const newest = [A, AAAA].filter((state) => state !== undefined)
    const older = superseded.all(id) as { first_seen: Instant; records: string }[]
    const first = new Map<Address, Instant>()
    for (const { first_seen, records } of [...newest, ...older].sort((a, b) => b.first_seen - a.first_seen))
      for (const address of addressesOf(records)) first.set(address, first_seen)
    const kept = ever.all(id) as { address: Uint8Array; since: Instant }[]
    const same = kept.length === first.size && kept.every((row) => first.get(unpackAddress(row.address)) === row.since)
    if (!same) report('was first seen on its addresses at other times than its states say')
  }
}

/** Superseded states: as many as counted, none confirmed before it began, every serial-only one with its base. */
function statesCheck(database: DatabaseSync) {
  const count = database.prepare(
    'select type, count(*) as kept, min(last_confirmed - first_seen) as shortest from state where id = ? group by type',
  )
  const lost = database.prepare(
    `select count(*) as lost from state s left join state b on b.id = s.id and b.type = s.type and b.first_seen = s.base
     where s.id = ? and s.records is null and (s.serial is null or b.records is null)`,
  )
  return (id: number, states: Current['states'], report: Report): void => {
    const rows = count.all(id) as { type: number; kept: number; shortest: number }[]
    for (const [place, type] of RECORD_TYPES.entries()) {
      const kept = rows.find((row) => row.type === place)?.kept ?? 0
      const counted = states[type]?.count ?? 0
      if (Math.min(kept + (states[type] ? 1 : 0), COUNTED_STATES) !== counted)
        report(`counts ${counted} states of ${type}, keeps ${kept} superseded`)
    }
    if (rows.some(({ shortest }) => shortest < 0)) report('has a state that was last confirmed before it began')
    if (rows.length > 0 && (lost.get(id) as { lost: number }).lost > 0) report('has a serial without its base')
  }
}
