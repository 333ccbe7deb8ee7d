/** The check of what names share: every row has its owner, every counter its rows, and each lies in its part. */

import { type Name, slotOf } from '../../../words/name.ts'
import {
  type CheckedAddress,
  type CheckedPresence,
  type CheckedRedirect,
  type CheckedTarget,
  type CheckedWording,
  checkedAddresses,
  checkedPresence,
  checkedRedirects,
  checkedTargets,
  checkedWordings,
} from '../../check/rows.ts'
import { SLICE, type Slice } from '../../check/slice.ts'
import { bytesArray, plainArray } from '../arrays.ts'
import { partOf, partOfPacked } from '../part.ts'
import type { Session } from '../writer.ts'

const PRESENCE = {
  name: 'check.presence',
  text: `select p.part, p.address, p.name, a.names is not null as counted
    from presence p left join address a on a.part = p.part and a.address = p.address
    where (p.part, p.address, p.name) > ($1, $2, $3) order by p.part, p.address, p.name limit ${SLICE}`,
}
const NAMES = 'unnest($1::smallint[], $2::integer[], $3::text[]'
const FACTS = `join visit v on v.part = k.part and v.slot = k.slot and v.name = k.name
  join facts f on f.part = v.part and f.id = v.id`
/** The places of those whose name is on the address. */
const ON_ADDRESS = {
  name: 'check.on',
  text: `select k.place from ${NAMES}, $4::bytea[]) with ordinality as k(part, slot, name, address, place) ${FACTS}
    where k.address = any (f.addresses)`,
}
const ADDRESSES = {
  name: 'check.addresses',
  text: `select part, address, names as counter,
      (select count(*) from presence p where p.part = a.part and p.address = a.address) as rows
    from address a where (part, address) > ($1, $2) order by part, address limit ${SLICE}`,
}
const REDIRECTS = {
  name: 'check.redirects',
  text: `select r.part, r.target, r.source, t.sources is not null as counted
    from redirect r left join target t on t.part = r.part and t.target = r.target
    where (r.part, r.target, r.source) > ($1, $2, $3) order by r.part, r.target, r.source limit ${SLICE}`,
}
/** The places of those that redirect to the target. */
const TO_TARGET = {
  name: 'check.to',
  text: `select k.place from ${NAMES}, $4::text[]) with ordinality as k(part, slot, name, target, place) ${FACTS}
    where f.redirects_to = k.target`,
}
const TARGETS = {
  name: 'check.targets',
  text: `select part, target, sources as counter,
      (select count(*) from redirect r where r.part = t.part and r.target = t.target) as rows
    from target t where (part, target) > ($1, $2) order by part, target limit ${SLICE}`,
}
const WORDINGS = {
  name: 'check.wordings',
  text: `select part, number as wording, digest, vector, exists (select 1 from reading r where r.wording = w.number)
      or exists (select 1 from orphan o where o.wording = w.number) as read
    from wording w where number > $1 order by number limit ${SLICE}`,
}

/** Rows of presence: their name is there, and on that address. */
export async function checkPresence(session: Session, after: string | null): Promise<Slice> {
  const [hex, name, part] = after === null ? ['', '', -1] : (JSON.parse(after) as [string, Name, number])
  const rows = await session.rows<CheckedPresence>(PRESENCE, [part, Buffer.from(hex, 'hex'), name])
  const names = rows.map((row) => row.name)
  const owned = await placesOf(session, ON_ADDRESS, names, bytesArray(rows.map(({ address }) => address)))
  return checkedPresence(
    rows.map((row, place) => ({ ...row, owned: owned.has(place + 1), rightPart: partOfPacked(row.address) })),
  )
}

/** Counters of addresses. */
export async function checkAddresses(session: Session, after: string | null): Promise<Slice> {
  const [hex, part] = after === null ? ['', -1] : (JSON.parse(after) as [string, number])
  const rows = await session.rows<CheckedAddress>(ADDRESSES, [part, Buffer.from(hex, 'hex')])
  return checkedAddresses(rows.map((row) => ({ ...row, rightPart: partOfPacked(row.address) })))
}

/** Rows of redirect: their source is there, and redirects to that target. */
export async function checkRedirects(session: Session, after: string | null): Promise<Slice> {
  const [target, source, part] = after === null ? ['', '', -1] : (JSON.parse(after) as [Name, Name, number])
  const rows = await session.rows<CheckedRedirect>(REDIRECTS, [part, target, source])
  const names = rows.map((row) => row.source)
  const owned = await placesOf(session, TO_TARGET, names, plainArray(rows.map((row) => row.target)))
  return checkedRedirects(
    rows.map((row, place) => ({ ...row, owned: owned.has(place + 1), rightPart: partOf(row.target) })),
  )
}

/** Counters of targets. */
export async function checkTargets(session: Session, after: string | null): Promise<Slice> {
  const [target, part] = after === null ? ['', -1] : (JSON.parse(after) as [Name, number])
  const rows = await session.rows<CheckedTarget>(TARGETS, [part, target])
  return checkedTargets(rows.map((row) => ({ ...row, rightPart: partOf(row.target) })))
}

/** Wordings: a start page has each, unless who keeps the index has yet to look. */
export async function checkWordings(session: Session, after: string | null): Promise<Slice> {
  const [wording] = after === null ? [0] : (JSON.parse(after) as [number])
  const rows = await session.rows<CheckedWording>(WORDINGS, [wording])
  return checkedWordings(rows.map((row) => ({ ...row, rightPart: row.wording & 255 })))
}

/** The places, from 1 on, of the names of which the statement finds what it looks for. */
async function placesOf(
  session: Session,
  statement: typeof ON_ADDRESS,
  names: readonly Name[],
  others: string,
): Promise<Set<number>> {
  const columns = [plainArray(names.map(partOf)), plainArray(names.map(slotOf)), plainArray(names), others]
  const rows = await session.rows<{ place: number }>(statement, columns)
  return new Set(rows.map(({ place }) => place))
}
