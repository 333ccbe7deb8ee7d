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
import { inRunSql, readRuns } from '../../database/citus/part-runs.ts'
import { partitionOfName, partitionOfPackedAddress } from '../../database/partition.ts'
import { inShardSql, type Shards } from '../../database/shards.ts'
import type { Session } from '../../database/transaction.ts'

const CHECK_PRESENCE = {
  name: 'check.presence',
  text: `select p.part, p.address, p.name, a.names is not null as counted
    from presence p left join address_count a on a.part = p.part and a.address = p.address and ${inShardSql('a.part', 7)}
    where (p.part, p.address, p.name) > ($1, $2, $3) and ${inRunSql('p.part', 5)} order by p.part, p.address, p.name limit $4`,
}
const NAME_KEYS = 'unnest($1::smallint[], $2::integer[], $3::text[]'
const JOIN_FACTS = `join crawl_state v on v.part = k.part and v.slot = k.slot and v.name = k.name and ${inShardSql('v.part', 5)}
  join facts f on f.part = v.part and f.id = v.id and ${inShardSql('f.part', 5)}`
/** The positions of the rows whose name is on the address. */
const CHECK_NAMES_ON_ADDRESS = {
  name: 'check.on',
  text: `select k.position from ${NAME_KEYS}, $4::bytea[]) with ordinality as k(part, slot, name, address, position) ${JOIN_FACTS}
    where k.address = any (f.addresses)`,
}
const CHECK_ADDRESSES = {
  name: 'check.addresses',
  text: `select part, address, names as counter,
      (select count(*) from presence p where p.part = a.part and p.address = a.address and ${inShardSql('p.part', 6)}) as rows
    from address_count a where (part, address) > ($1, $2) and ${inRunSql('part', 4)} order by part, address limit $3`,
}
const CHECK_REDIRECTS = {
  name: 'check.redirects',
  text: `select r.part, r.target, r.source, t.sources is not null as counted
    from redirect r left join redirect_count t on t.part = r.part and t.target = r.target and ${inShardSql('t.part', 7)}
    where (r.part, r.target, r.source) > ($1, $2, $3) and ${inRunSql('r.part', 5)} order by r.part, r.target, r.source limit $4`,
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
      (select count(*) from redirect r where r.part = t.part and r.target = t.target and ${inShardSql('r.part', 6)}) as rows
    from redirect_count t where (part, target) > ($1, $2) and ${inRunSql('part', 4)} order by part, target limit $3`,
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
  shards: Shards,
): Promise<CheckSlice> {
  const [part, hex, name] = after === null ? [-1, '', ''] : (JSON.parse(after) as [number, string, DomainName])
  const rows = await readRuns(shards, part, limit, (run, max) =>
    session.rows<CheckedPresence>(CHECK_PRESENCE, [part, Buffer.from(hex, 'hex'), name, max, ...run]),
  )
  const isOwned = await matchingRows(
    session,
    shards,
    CHECK_NAMES_ON_ADDRESS,
    rows,
    ({ name }) => name,
    (batch) => bytesArray(batch.map(({ address }) => address)),
  )
  return checkPresenceRows(
    rows.map((row) => ({
      ...row,
      owned: isOwned.has(row),
      rightPart: partitionOfPackedAddress(row.address),
    })),
  )
}

/** Counters of addresses. */
export async function checkAddressesPostgres(
  session: Session,
  after: string | null,
  limit: number,
  shards: Shards,
): Promise<CheckSlice> {
  const [part, hex] = after === null ? [-1, ''] : (JSON.parse(after) as [number, string])
  const rows = await readRuns(shards, part, limit, (run, max) =>
    session.rows<CheckedAddress>(CHECK_ADDRESSES, [part, Buffer.from(hex, 'hex'), max, ...run]),
  )
  return checkAddressRows(rows.map((row) => ({ ...row, rightPart: partitionOfPackedAddress(row.address) })))
}

/** Rows of redirect: their source exists and redirects to that target. */
export async function checkRedirectsPostgres(
  session: Session,
  after: string | null,
  limit: number,
  shards: Shards,
): Promise<CheckSlice> {
  const [part, target, source] = after === null ? [-1, '', ''] : (JSON.parse(after) as [number, DomainName, DomainName])
  const rows = await readRuns(shards, part, limit, (run, max) =>
    session.rows<CheckedRedirect>(CHECK_REDIRECTS, [part, target, source, max, ...run]),
  )
  const isOwned = await matchingRows(
    session,
    shards,
    CHECK_NAMES_TO_TARGET,
    rows,
    ({ source }) => source,
    (batch) => plainArray(batch.map(({ target }) => target)),
  )
  return checkRedirectRows(
    rows.map((row) => ({ ...row, owned: isOwned.has(row), rightPart: partitionOfName(row.target) })),
  )
}

/** Counters of targets. */
export async function checkTargetsPostgres(
  session: Session,
  after: string | null,
  limit: number,
  shards: Shards,
): Promise<CheckSlice> {
  const [part, target] = after === null ? [-1, ''] : (JSON.parse(after) as [number, DomainName])
  const rows = await readRuns(shards, part, limit, (run, max) =>
    session.rows<CheckedTarget>(CHECK_TARGETS, [part, target, max, ...run]),
  )
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

/** The rows for whose name the statement returns a row. `othersOf`: the last column of the keys. */
async function matchingRows<Row>(
  session: Session,
  shards: Shards,
  statement: typeof CHECK_NAMES_ON_ADDRESS,
  rows: readonly Row[],
  nameOf: (row: Row) => DomainName,
  othersOf: (rows: readonly Row[]) => string,
): Promise<Set<Row>> {
  const found = new Set<Row>()
  for (const batch of shards.batches(rows, (row) => partitionOfName(nameOf(row)))) {
    const names = batch.rows.map(nameOf)
    const columns = [plainArray(names.map(partitionOfName)), plainArray(names.map(slotOf)), plainArray(names)]
    const key = [...columns, othersOf(batch.rows), batch.parts]
    const matches = await session.rows<{ position: number }>(statement, key)
    for (const { position } of matches) found.add(batch.rows[position - 1]!)
  }
  return found
}
