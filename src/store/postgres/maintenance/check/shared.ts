/**
 * Checks the ledger, crawl states, and the rows that names share: every row has its owner, every counter its rows, and
 * each is in its partition.
 */

import { type DomainName, slotOf } from '../../../../values/domain-name.ts'
import { EVENT_FINDING, LEDGER_FINDING_QUERIES, LEDGER_ROWS, ledgerFaults } from '../../../shared/check/ledger.ts'
import {
  type CheckedAddress,
  type CheckedCrawlState,
  type CheckedDocument,
  type CheckedPresence,
  type CheckedRedirect,
  type CheckedTarget,
  checkAddressRows,
  checkCrawlStateRows,
  checkDocumentRows,
  checkPresenceRows,
  checkRedirectRows,
  checkTargetRows,
} from '../../../shared/check/rows.ts'
import type { CheckSlice } from '../../../shared/check/slice.ts'
import { readRuns } from '../../database/citus/part-runs.ts'
import { partitionOfName, partitionOfPackedAddress, partitionOfSlot } from '../../database/partition.ts'
import { matchRows, type RowStatement, rowStatement, runStatement } from '../../database/row-statements.ts'
import type { Shards } from '../../database/shards.ts'
import type { Session } from '../../database/transaction.ts'

const CHECK_CRAWL_STATES = runStatement(
  'check.crawl-states',
  4,
  ({ inRun, inShard }) =>
    `select v.part, v.slot, v.name, v.id, v.clock, f.name as owner from crawl_state v
    left join facts f on f.part = v.part and f.id = v.id and ${inShard('f.part')}
    where (v.part, v.slot, v.name) > ($1, $2, $3) and ${inRun('v.part')} order by v.part, v.slot, v.name limit $4`,
)

const CHECK_PRESENCE = runStatement(
  'check.presence',
  4,
  ({ inRun, inShard }) =>
    `select p.part, p.address, p.name, a.names is not null as counted
    from presence p left join address_count a on a.part = p.part and a.address = p.address and ${inShard('a.part')}
    where (p.part, p.address, p.name) > ($1, $2, $3) and ${inRun('p.part')} order by p.part, p.address, p.name limit $4`,
)
const CHECK_ADDRESSES = runStatement(
  'check.addresses',
  3,
  ({ inRun, inShard }) =>
    `select part, address, names as counter,
      (select count(*) from presence p where p.part = a.part and p.address = a.address and ${inShard('p.part')}) as rows
    from address_count a where (part, address) > ($1, $2) and ${inRun('part')} order by part, address limit $3`,
)
const CHECK_REDIRECTS = runStatement(
  'check.redirects',
  4,
  ({ inRun, inShard }) =>
    `select r.part, r.target, r.source, t.sources is not null as counted
    from redirect r left join redirect_count t on t.part = r.part and t.target = r.target and ${inShard('t.part')}
    where (r.part, r.target, r.source) > ($1, $2, $3) and ${inRun('r.part')} order by r.part, r.target, r.source limit $4`,
)
const CHECK_TARGETS = runStatement(
  'check.targets',
  3,
  ({ inRun, inShard }) =>
    `select part, target, sources as counter,
      (select count(*) from redirect r where r.part = t.part and r.target = t.target and ${inShard('r.part')}) as rows
    from redirect_count t where (part, target) > ($1, $2) and ${inRun('part')} order by part, target limit $3`,
)

/** A name whose facts must have a value: an address that it is on, or the target to which it redirects. */
type Owner<Value> = { part: number; slot: number; name: DomainName; value: Value }

/** The positions of the owners whose facts `f` have the value. */
function ownerStatement<Value>(name: string, type: 'bytes' | 'word', condition: string) {
  return rowStatement<Owner<Value>>(
    name,
    { part: 'smallint', slot: 'integer', name: 'word', value: type },
    ({ numberedRows, inShard }) =>
      `select k.position from ${numberedRows}
      join crawl_state v on v.part = k.part and v.slot = k.slot and v.name = k.name and ${inShard('v.part')}
      join facts f on f.part = v.part and f.id = v.id and ${inShard('f.part')} where ${condition}`,
  )
}
const CHECK_NAMES_ON_ADDRESS = ownerStatement<Uint8Array>('check.on', 'bytes', 'k.value = any (f.addresses)')
const CHECK_NAMES_TO_TARGET = ownerStatement<DomainName>('check.to', 'word', 'f.redirects_to = k.value')
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
  const owners = rows.map(({ name, address }) => ownerOf(name, address))
  const found = await foundOwners(session, shards, CHECK_NAMES_ON_ADDRESS, owners)
  return checkPresenceRows(
    rows.map((row, index) => ({
      ...row,
      owned: found.has(owners[index]!),
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
  const owners = rows.map(({ source, target }) => ownerOf(source, target))
  const found = await foundOwners(session, shards, CHECK_NAMES_TO_TARGET, owners)
  return checkRedirectRows(
    rows.map((row, index) => ({
      ...row,
      owned: found.has(owners[index]!),
      rightPart: partitionOfName(row.target),
    })),
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

function ownerOf<Value>(name: DomainName, value: Value): Owner<Value> {
  return { part: partitionOfName(name), slot: slotOf(name), name, value }
}

async function foundOwners<Value>(
  session: Session,
  shards: Shards,
  statement: RowStatement<Owner<Value>>,
  owners: readonly Owner<Value>[],
): Promise<Set<Owner<Value>>> {
  const found = await matchRows<{ position: number }, Owner<Value>>(session.rows, shards, statement, owners)
  return new Set(found.map(({ row }) => row))
}

/**
 * Checks crawl states: each row is in the slot and partition of its name, and its id is that of the facts of its name.
 */
export async function checkCrawlStatesPostgres(
  session: Session,
  after: string | null,
  limit: number,
  shards: Shards,
): Promise<CheckSlice> {
  const [part, slot, name] = after === null ? [-1, -1, ''] : (JSON.parse(after) as [number, number, DomainName])
  const rows = await readRuns(shards, part, limit, (run, max) =>
    session.rows<CheckedCrawlState>(CHECK_CRAWL_STATES, [part, slot, name, max, ...run]),
  )
  return checkCrawlStateRows(rows.map((row) => ({ ...row, rightPart: partitionOfSlot(row.slot) })))
}

/** The counters of the events of accounts. */
export async function checkEventCountsPostgres({ rows }: Session): Promise<CheckSlice> {
  return { faults: ledgerFaults(EVENT_FINDING, await rows(EVENT_FINDING)), checked: 0, last: null }
}

/** Checks the ledger's rows. */
export async function checkLedgerPostgres({ rows }: Session): Promise<CheckSlice> {
  const [counts, ...found] = await Promise.all([
    rows<{ rows: number }>(LEDGER_ROWS),
    ...LEDGER_FINDING_QUERIES.map(async (finding) => ledgerFaults(finding, await rows<{ place: number }>(finding))),
  ])
  return { faults: found.flat(), checked: counts[0]!.rows, last: null }
}
