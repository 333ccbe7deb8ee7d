/** The check of what names share: every row has its owner, every counter its rows. */

import type { DatabaseSync } from 'node:sqlite'
import { unpackAddress } from '../../../words/address.ts'
import { type Name, slotOf } from '../../../words/name.ts'
import type { Fault } from '../../store.ts'
import { type Report, readable, SLICE, type Slice } from './names.ts'

type Presence = { address: Uint8Array; name: Name }
type Redirect = { target: Name; source: Name }

/** Rows of presence: their name is there, and on that address. */
export function checkPresence(database: DatabaseSync, after: string | null): Slice {
  const [hex, name] = after === null ? ['', ''] : (JSON.parse(after) as [string, string])
  const rows = database
    .prepare(`select address, name from presence where (address, name) > (?, ?) order by address, name limit ${SLICE}`)
    .all(Buffer.from(hex, 'hex'), name) as Presence[]
  const listed = database.prepare(
    'select f.addresses from visit v join facts f on f.id = v.id where v.slot = ? and v.name = ?',
  )
  const holds = (name: Name, key: string): boolean => {
    const owner = listed.get(slotOf(name), name) as { addresses: string | null } | undefined
    return owner?.addresses?.includes(`"${key}"`) ?? false
  }
  const counted = database.prepare('select 1 from address where address = ?')
  const faults: Fault[] = []
  for (const row of rows) {
    const key = hexOf(row.address)
    const report = reporter(faults, 'presence', `${key} ${row.name}`)
    readable(report, () => unpackAddress(row.address))
    if (!holds(row.name, key)) report('belongs to no name that is on this address')
    if (!counted.get(row.address)) report('belongs to an address without a counter')
  }
  const last = rows.at(-1)
  return slice(faults, rows.length, last && JSON.stringify([hexOf(last.address), last.name]))
}

/** Counters of addresses. */
export function checkAddresses(database: DatabaseSync, after: string | null): Slice {
  const rows = database
    .prepare(
      `select address, names as counter, (select count(*) from presence p where p.address = a.address) as rows
       from address a where address > ? order by address limit ${SLICE}`,
    )
    .all(Buffer.from(after ?? '', 'hex')) as { address: Uint8Array; counter: number; rows: number }[]
  const faults: Fault[] = []
  for (const { address, counter, rows: counted } of rows) {
    if (counter !== counted || counter === 0)
      reporter(faults, 'address', hexOf(address))(`counts ${counter}, has ${counted} rows`)
  }
  const last = rows.at(-1)
  return slice(faults, rows.length, last && hexOf(last.address))
}

/** Rows of redirect: their source is there, and redirects to that target. */
export function checkRedirects(database: DatabaseSync, after: string | null): Slice {
  const [target, source] = after === null ? ['', ''] : (JSON.parse(after) as [string, string])
  const rows = database
    .prepare(
      `select target, source from redirect where (target, source) > (?, ?) order by target, source limit ${SLICE}`,
    )
    .all(target, source) as Redirect[]
  const owner = database.prepare(
    'select 1 from visit v join facts f on f.id = v.id where v.slot = ? and v.name = ? and f.redirects_to = ?',
  )
  const counted = database.prepare('select 1 from target where target = ?')
  const faults: Fault[] = []
  for (const row of rows) {
    const report = reporter(faults, 'redirect', `${row.target} ${row.source}`)
    if (!owner.get(slotOf(row.source), row.source, row.target)) report('belongs to no name that redirects there')
    if (!counted.get(row.target)) report('belongs to a target without a counter')
  }
  const last = rows.at(-1)
  return slice(faults, rows.length, last && JSON.stringify([last.target, last.source]))
}

/** Counters of targets. */
export function checkTargets(database: DatabaseSync, after: string | null): Slice {
  const rows = database
    .prepare(
      `select target, sources as counter, (select count(*) from redirect r where r.target = t.target) as rows
       from target t where target > ? order by target limit ${SLICE}`,
    )
    .all(after ?? '') as { target: string; counter: number; rows: number }[]
  const faults: Fault[] = []
  for (const { target, counter, rows: counted } of rows) {
    if (counter !== counted || counter === 0)
      reporter(faults, 'target', target)(`counts ${counter}, has ${counted} rows`)
  }
  return slice(faults, rows.length, rows.at(-1)?.target)
}

/** Rows filed under an id belong to the name that has the id. */
export function checkOwners(database: DatabaseSync, after: string | null): Slice {
  const ids = database
    .prepare(
      `select id from (select * from (select id from facts where id > ?1 order by id limit ${SLICE})
       union select * from (select distinct id from state where id > ?1 order by id limit ${SLICE})
       union select * from (select distinct id from ever where id > ?1 order by id limit ${SLICE})
       union select * from (select id from page where id > ?1 order by id limit ${SLICE})) order by id limit ${SLICE}`,
    )
    .all(Number(after ?? -1)) as { id: number }[]
  const nameOf = database.prepare('select name from facts where id = ?')
  const idOf = database.prepare('select id from visit where slot = ? and name = ?')
  const faults: Fault[] = []
  for (const { id } of ids) {
    const owner = nameOf.get(id) as { name: Name } | undefined
    const visit = owner && (idOf.get(slotOf(owner.name), owner.name) as { id: number } | undefined)
    if (visit?.id !== id) reporter(faults, 'facts', String(id))('belongs to no name')
  }
  return slice(faults, ids.length, ids.at(-1) && String(ids.at(-1)!.id))
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

function reporter(faults: Fault[], table: string, key: string): Report {
  return (problem) => void faults.push({ table, key, problem })
}

function slice(faults: Fault[], checked: number, last: string | undefined): Slice {
  return { faults, checked, last: checked < SLICE ? null : last! }
}
