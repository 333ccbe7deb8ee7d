/** The check of what names share: every row has its owner, every counter its rows. */

import type { DatabaseSync } from 'node:sqlite'
import { unpackAddress } from '../../../words/address.ts'
import type { Name } from '../../../words/name.ts'
import type { Fault } from '../../store.ts'
import { readable, reporter, SLICE, type Slice, sliceOf } from './slice.ts'

/** `owned`: not 0 where its name is there and on that address, or redirects to that target. */
type Presence = { address: Uint8Array; name: Name; owned: number; counted: 0 | 1 }
type Redirect = { target: Name; source: Name; owned: number; counted: 0 | 1 }

/** Rows of presence: their name is there, and on that address. */
export function checkPresence(database: DatabaseSync, after: string | null): Slice {
  const [hex, name] = after === null ? ['', ''] : (JSON.parse(after) as [string, string])
  const rows = database
    .prepare(
      `select p.address, p.name, a.names is not null as counted,
         coalesce((select instr(f.addresses, '"' || lower(hex(p.address)) || '"') from visit v join facts f on f.id = v.id
           where v.slot = slot(p.name) and v.name = p.name), 0) as owned
       from presence p left join address a on a.address = p.address
       where (p.address, p.name) > (?, ?) order by p.address, p.name limit ${SLICE}`,
    )
    .all(Buffer.from(hex, 'hex'), name) as Presence[]
  const faults: Fault[] = []
  for (const { address, name, owned, counted } of rows) {
    if (owned && counted) continue
    const report = reporter(faults, 'presence', `${hexOf(address)} ${name}`)
    if (!owned) report('belongs to no name that is on this address')
    if (!counted) report('belongs to an address without a counter')
  }
  const last = rows.at(-1)
  return sliceOf(faults, rows.length, last && JSON.stringify([hexOf(last.address), last.name]))
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
    const report = reporter(faults, 'address', hexOf(address))
    readable(report, () => unpackAddress(address))
    if (counter !== counted || counter === 0) report(`counts ${counter}, has ${counted} rows`)
  }
  const last = rows.at(-1)
  return sliceOf(faults, rows.length, last && hexOf(last.address))
}

/** Rows of redirect: their source is there, and redirects to that target. */
export function checkRedirects(database: DatabaseSync, after: string | null): Slice {
  const [target, source] = after === null ? ['', ''] : (JSON.parse(after) as [string, string])
  const rows = database
    .prepare(
      `select r.target, r.source, t.sources is not null as counted,
         exists (select 1 from visit v join facts f on f.id = v.id
           where v.slot = slot(r.source) and v.name = r.source and f.redirects_to = r.target) as owned
       from redirect r left join target t on t.target = r.target
       where (r.target, r.source) > (?, ?) order by r.target, r.source limit ${SLICE}`,
    )
    .all(target, source) as Redirect[]
  const faults: Fault[] = []
  for (const { target, source, owned, counted } of rows) {
    const report = reporter(faults, 'redirect', `${target} ${source}`)
    if (!owned) report('belongs to no name that redirects there')
    if (!counted) report('belongs to a target without a counter')
  }
  const last = rows.at(-1)
  return sliceOf(faults, rows.length, last && JSON.stringify([last.target, last.source]))
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
  return sliceOf(faults, rows.length, rows.at(-1)?.target)
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
