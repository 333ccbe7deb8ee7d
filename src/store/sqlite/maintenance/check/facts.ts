/**
 * Checks facts and what follows from them: the rows of one id belong to one name, are consistent, match the shared rows
 * and their checksums, and every known name is listed, scheduled and leased.
 */

import type { DatabaseSync } from 'node:sqlite'
import { RECORD_TYPE_NUMBERS } from '../../../../apply/stored-numbers.ts'
import { SLOT_RANGES } from '../../../../values/domain-name.ts'
import type { CheckFault } from '../../../port/store.ts'
import { CHECKSUM_COLUMNS, matchesChecksum } from '../../../shared/check/checksum.ts'
import {
  type ChecksumCheck,
  type ChecksummedRow,
  checkChecksumRows,
  checksumCheck,
  checksumKeyAfter,
  FREQUENCIES_CHECK,
  POSTINGS_CHECK,
} from '../../../shared/check/checksummed-rows.ts'
import type { CheckedFacts } from '../../../shared/check/facts.ts'
import { type CheckedCrawlState, checkCrawlStateRows, checkFactsRows } from '../../../shared/check/rows.ts'
import { type CheckSlice, checkSlice, problemReporter } from '../../../shared/check/slice.ts'
import type { FactsRow } from '../../../shared/columns.ts'

/** Names per unit of `limit`. Each query for unlisted names scans all pending names, so a larger slice is cheaper. */
const NAMES_PER_LIMIT = 40

type KnownName = { slot: number; name: string; known: number; listed: number }
type SortedName = { name: string; known: number }
type PendingNameRow = { position: number; name: string; known: number; isForgotten: number; departed: number }

const OF_FACTS = 'exists (select 1 from facts f where f.id = t.id)'
const STATES_CHECK = checksumCheck(
  'dns_state',
  3,
  ({ records }) => void (records !== null && JSON.parse(records as string)),
)

/** Checks rows whose damage only a checksum can show: superseded states, and the rows of the index of /similar. */
export const checkStates = checkChecksums(STATES_CHECK, OF_FACTS)
export const checkInterruptions = checkChecksums(checksumCheck('dns_interruption', 3), OF_FACTS)
export const checkPostings = checkChecksums(POSTINGS_CHECK)
export const checkFrequencies = checkChecksums(FREQUENCIES_CHECK)

type FactsWithChecksum = CheckedFacts & { checksum: number | null }

export function checkFactsSqlite(database: DatabaseSync, after: string | null, limit: number): CheckSlice {
  const [from] = after === null ? [-1] : (JSON.parse(after) as [number])
  const ids = idsAfter(database, from, limit)
  const last = ids.at(-1)
  return checkFactsRows(
    ids,
    last === undefined ? last : JSON.stringify([last]),
    checkedFactsRows(database, ids[0] ?? 0, last ?? 0),
  )
}

/** The ids of the rows of all tables, ascending. */
function idsAfter(database: DatabaseSync, after: number, limit: number): number[] {
  const idsOf = (table: string): string =>
    `select * from (select distinct id from ${table} where id > ?1 order by id limit ?2)`
  const rows = database
    .prepare(
      `${['facts', 'dns_state', 'dns_interruption', 'address_first_seen', 'pending_page', 'page_document'].map(idsOf).join(' union ')} order by id limit ?2`,
    )
    .all(after, limit) as { id: number }[]
  return rows.map(({ id }) => id)
}

export function* checkedFactsRows(database: DatabaseSync, first: number, last: number): Iterable<CheckedFacts> {
  const statement = database.prepare(
    `select f.*, v.id as stateId, v.clock, v.other_clocks as otherClocks, v.dns_fingerprint as dnsFingerprint,
       (select json_group_array(json_object('type', type, 'first_seen', first_seen, 'last_confirmed', last_confirmed,
          'serial', serial, 'base', base_first_seen, 'isFull', records is not null, 'addresses', iif(type in (${RECORD_TYPE_NUMBERS.A}, ${RECORD_TYPE_NUMBERS.AAAA}), records, null)))
        from dns_state s where s.id = f.id) as superseded,
       (select json_group_array(json_array(type, last_seen, seen_again)) from dns_interruption i where i.id = f.id) as interruptions,
       (select json_group_array(json_array(hex(address), first_seen)) from address_first_seen e where e.id = f.id) as firstSeen,
       iif(json_valid(f.addresses), (select json_group_array(p.since) from json_each(f.addresses) j
          left join presence p on p.address = unhex(j.value) and p.name = f.name), null) as presenceSince,
       (select digest from pending_page g where g.id = f.id) as pendingDigest,
       t.name as documentName, t.document, exists (select 1 from document w where w.number = t.document) and exists (select 1 from page_document x indexed by page_document_document
         where x.document = t.document and x.name = t.name and x.id = t.id) as hasDocument,
       exists (select 1 from redirect r where r.target = f.redirects_to and r.source = f.name) as hasRedirect
     from facts f left join crawl_state v on v.slot = slot(f.name) and v.name = f.name left join page_document t on t.id = f.id
     where f.id between ? and ? order by f.id`,
  )
  for (const row of statement.iterate(first, last) as Iterable<FactsWithChecksum>)
    yield { ...row, isIntact: matchesChecksum(CHECKSUM_COLUMNS.facts, row, (column) => row[column as keyof FactsRow]) }
}

/** Checks crawl states: each row is in the slot of its name, and its id is that of the facts of its name. */
export function checkCrawlStatesSqlite(database: DatabaseSync, after: string | null, limit: number): CheckSlice {
  const [slot, name] = after === null ? [-1, ''] : (JSON.parse(after) as [number, string])
  const rows = database
    .prepare(
      `select v.slot, v.name, v.id, v.clock, f.name as owner from crawl_state v left join facts f on f.id = v.id
       where (v.slot, v.name) > (?, ?) order by v.slot, v.name limit ?`,
    )
    .all(slot, name, limit)
  return checkCrawlStateRows(rows as CheckedCrawlState[])
}

/** Checks all ranges at once, because there are few. They are not rows of facts, so they are not counted. */
export function checkSlotLeases(database: DatabaseSync): CheckSlice {
  const rows = database
    .prepare('select slot_range from slot_lease where fence is not null and next_sweep is not null')
    .all()
  const existing = new Set(rows.map(({ slot_range }) => slot_range))
  const faults: CheckFault[] = []
  for (let range = 0; range < SLOT_RANGES; range++)
    if (!existing.has(range))
      problemReporter(faults, 'slot_lease', String(range))('is missing or damaged: names of this range are not probed')
  return { faults, checked: 0, last: null }
}

/** `owned`: an SQL condition for `ChecksummedRow.owned`. */
function checkChecksums(check: ChecksumCheck, owned = 'true') {
  const { table, keys } = check
  return (database: DatabaseSync, after: string | null, limit: number): CheckSlice => {
    const rows = database
      .prepare(
        `select t.*, ${owned} as owned from ${table} t where (${keys}) > (${keys.map(() => '?')}) order by ${keys} limit ?`,
      )
      .all(...checksumKeyAfter(check, after), limit)
    return checkChecksumRows(check, rows as ChecksummedRow[])
  }
}

/** Every known name is listed or pending, unless it was forgotten. */
export function checkKnownNames(database: DatabaseSync, after: string | null, limit: number): CheckSlice {
  const [slot, name] = after === null ? [-1, ''] : (JSON.parse(after) as [number, string])
  const rows = database
    .prepare(
      `select slot, name, id is not 0 as known, exists (select 1 from sorted_name l where l.name = v.name) as listed
       from crawl_state v where (slot, name) > (?, ?) order by slot, name limit ?`,
    )
    .all(slot, name, limit === 1 ? 1 : NAMES_PER_LIMIT * limit) as KnownName[]
  const missing = rows.filter(({ known, listed }) => known && !listed).map((row) => row.name)
  const pending = pendingAmong(database, missing)
  const faults: CheckFault[] = []
  for (const name of missing) if (!pending.has(name)) problemReporter(faults, 'crawl_state', name)('is not listed')
  for (const { name, known, listed } of rows)
    if (listed && !known) problemReporter(faults, 'sorted_name', name)('was forgotten')
  const last = rows.at(-1)
  return checkSlice(faults, rows.length, last && JSON.stringify([last.slot, last.name]))
}

function pendingAmong(database: DatabaseSync, names: readonly string[]): Set<string> {
  if (names.length === 0) return new Set()
  const readPending = database.prepare('select name from pending_name where name in (select value from json_each(?))')
  return new Set((readPending.all(JSON.stringify(names)) as { name: string }[]).map(({ name }) => name))
}

/** Listed names are known. */
export function checkSortedNames(database: DatabaseSync, after: string | null, limit: number): CheckSlice {
  const [from] = after === null ? [''] : (JSON.parse(after) as [string])
  const rows = database
    .prepare(
      `select l.name, v.name is not null as known from sorted_name l
       left join crawl_state v on v.slot = slot(l.name) and v.name = l.name where l.name > ? order by l.name limit ?`,
    )
    .all(from, limit) as SortedName[]
  const faults: CheckFault[] = []
  for (const { name, known } of rows) if (!known) problemReporter(faults, 'sorted_name', name)('is unknown')
  const last = rows.at(-1)
  return checkSlice(faults, rows.length, last && JSON.stringify([last.name]))
}

/** Pending names are known, or were forgotten and will be skipped. */
export function checkPendingNames(database: DatabaseSync, after: string | null, limit: number): CheckSlice {
  const [from] = after === null ? [0] : (JSON.parse(after) as [number])
  const rows = database
    .prepare(
      `select a.position, a.name, v.name is not null as known, v.id is 0 as isForgotten,
         exists (select 1 from pending_removal d where d.name = a.name and d.position >= a.position) as departed
       from pending_name a left join crawl_state v on v.slot = slot(a.name) and v.name = a.name
       where a.position > ? order by a.position limit ?`,
    )
    .all(from, limit) as PendingNameRow[]
  const faults: CheckFault[] = []
  for (const { name, known, isForgotten, departed } of rows) {
    if (!known) problemReporter(faults, 'pending_name', name)('is unknown')
    if (isForgotten && !departed) problemReporter(faults, 'pending_name', name)('was forgotten')
  }
  const last = rows.at(-1)
  return checkSlice(faults, rows.length, last && JSON.stringify([last.position]))
}
