/** Checks the rows that names share: every row has its owner, every counter its rows, and each is in its partition. */

import { type DomainName, slotOf } from '../../../../values/domain-name.ts'
import {
  type CheckedAddress,
  type CheckedDocument,
  type CheckedPresence,
  type CheckedRedirect,
  type CheckedTarget,
  checkAddressRows,
  checkDocumentRows,
  checkPresenceRows,
  checkRedirectRows,
  checkTargetRows,
} from '../../../shared/check/rows.ts'
import type { CheckSlice } from '../../../shared/check/slice.ts'
import { bytesArray, plainArray } from '../../database/arrays.ts'
import { partitionOfName, partitionOfPackedAddress } from '../../database/partition.ts'
import type { Session } from '../../database/transaction.ts'

const CHECK_PRESENCE = {
  name: 'check.presence',
  text: `select p.part, p.address, p.name, a.names is not null as counted
    from presence p left join address_count a on a.part = p.part and a.address = p.address
    where (p.part, p.address, p.name) > ($1, $2, $3) order by p.part, p.address, p.name limit $4`,
}
const NAME_KEYS = 'unnest($1::smallint[], $2::integer[], $3::text[]'
const JOIN_FACTS = `join crawl_state v on v.part = k.part and v.slot = k.slot and v.name = k.name
  join facts f on f.part = v.part and f.id = v.id`
/** The positions of the rows whose name is on the address. */
const CHECK_NAMES_ON_ADDRESS = {
  name: 'check.on',
  text: `select k.position from ${NAME_KEYS}, $4::bytea[]) with ordinality as k(part, slot, name, address, position) ${JOIN_FACTS}
    where k.address = any (f.addresses)`,
}
const CHECK_ADDRESSES = {
  name: 'check.addresses',
  text: `select part, address, names as counter,
      (select count(*) from presence p where p.part = a.part and p.address = a.address) as rows
    from address_count a where (part, address) > ($1, $2) order by part, address limit $3`,
}
const CHECK_REDIRECTS = {
  name: 'check.redirects',
  text: `select r.part, r.target, r.source, t.sources is not null as counted
    from redirect r left join redirect_count t on t.part = r.part and t.target = r.target
    where (r.part, r.target, r.source) > ($1, $2, $3) order by r.part, r.target, r.source limit $4`,
}
/** The positions of the rows whose name redirects to the target. */
const CHECK_NAMES_TO_TARGET = {
  name: 'check.to',
  text: `select k.position from ${NAME_KEYS}, $4::text[]) with ordinality as k(part, slot, name, target, position) ${JOIN_FACTS}
    where f.redirects_to = k.target`,
}
const CHECK_TARGETS = {
  name: 'check.targets',
  text: `select part, target, sources as counter,
      (select count(*) from redirect r where r.part = t.part and r.target = t.target) as rows
    from redirect_count t where (part, target) > ($1, $2) order by part, target limit $3`,
}
const CHECK_DOCUMENTS = {
  name: 'check.documents',
  text: `select part, number as document, digest, vector,
      exists (select 1 from page_document p where p.document = d.number)
      or exists (select 1 from orphan_document o where o.document = d.number) as "isUsed"
    from document d where number > $1 order by number limit $2`,
}

/** Rows of presence: their name exists and is on that address. */
export async function checkPresencePostgres(
  session: Session,
  after: string | null,
  limit: number,
): Promise<CheckSlice> {
  const [part, hex, name] = after === null ? [-1, '', ''] : (JSON.parse(after) as [number, string, DomainName])
  const rows = await session.rows<CheckedPresence>(CHECK_PRESENCE, [part, Buffer.from(hex, 'hex'), name, limit])
  const names = rows.map((row) => row.name)
  const owned = await matchingPositions(
    session,
    CHECK_NAMES_ON_ADDRESS,
    names,
    bytesArray(rows.map(({ address }) => address)),
  )
  return checkPresenceRows(
    rows.map((row, index) => ({
      ...row,
      owned: owned.has(index + 1),
      rightPart: partitionOfPackedAddress(row.address),
    })),
  )
}

/** Counters of addresses. */
export async function checkAddressesPostgres(
  session: Session,
  after: string | null,
  limit: number,
): Promise<CheckSlice> {
  const [part, hex] = after === null ? [-1, ''] : (JSON.parse(after) as [number, string])
  const rows = await session.rows<CheckedAddress>(CHECK_ADDRESSES, [part, Buffer.from(hex, 'hex'), limit])
  return checkAddressRows(rows.map((row) => ({ ...row, rightPart: partitionOfPackedAddress(row.address) })))
}

/** Rows of redirect: their source exists and redirects to that target. */
export async function checkRedirectsPostgres(
  session: Session,
  after: string | null,
  limit: number,
): Promise<CheckSlice> {
  const [part, target, source] = after === null ? [-1, '', ''] : (JSON.parse(after) as [number, DomainName, DomainName])
  const rows = await session.rows<CheckedRedirect>(CHECK_REDIRECTS, [part, target, source, limit])
  const names = rows.map((row) => row.source)
  const owned = await matchingPositions(
    session,
    CHECK_NAMES_TO_TARGET,
    names,
    plainArray(rows.map((row) => row.target)),
  )
  return checkRedirectRows(
    rows.map((row, index) => ({ ...row, owned: owned.has(index + 1), rightPart: partitionOfName(row.target) })),
  )
}

/** Counters of targets. */
export async function checkTargetsPostgres(session: Session, after: string | null, limit: number): Promise<CheckSlice> {
  const [part, target] = after === null ? [-1, ''] : (JSON.parse(after) as [number, DomainName])
  const rows = await session.rows<CheckedTarget>(CHECK_TARGETS, [part, target, limit])
  return checkTargetRows(rows.map((row) => ({ ...row, rightPart: partitionOfName(row.target) })))
}

/** Documents: each is that of a start page, or the indexer has yet to check it. */
export async function checkDocumentsPostgres(
  session: Session,
  after: string | null,
  limit: number,
): Promise<CheckSlice> {
  const [document] = after === null ? [0] : (JSON.parse(after) as [number])
  const rows = await session.rows<CheckedDocument>(CHECK_DOCUMENTS, [document, limit])
  return checkDocumentRows(rows.map((row) => ({ ...row, rightPart: row.document & 255 })))
}

/** The positions, from 1, of the names for which the statement returns a row. */
async function matchingPositions(
  session: Session,
  statement: typeof CHECK_NAMES_ON_ADDRESS,
  names: readonly DomainName[],
  others: string,
): Promise<Set<number>> {
  const columns = [plainArray(names.map(partitionOfName)), plainArray(names.map(slotOf)), plainArray(names), others]
  const rows = await session.rows<{ position: number }>(statement, columns)
  return new Set(rows.map(({ position }) => position))
}
