/** Mends the rows of a SQLite store that follow from others (`check --repair`). */

import type { DatabaseSync } from 'node:sqlite'
import { type DomainName, slotOf } from '../../../values/domain-name.ts'
import { packAddress } from '../../../values/ip-address.ts'
import { formatInstant } from '../../../values/time.ts'
import { countStates } from '../../inverse/check-certificates.ts'
import type { CheckFault, StoreMaintenance } from '../../port/store.ts'
import { CHECKSUM_COLUMNS, matchesChecksum } from '../../shared/check/checksum.ts'
import type { DerivedRows } from '../../shared/check/facts.ts'
import type { Removal, RowRepair } from '../../shared/check/findings.ts'
import { EVENT_FINDING, ledgerRepairs } from '../../shared/check/ledger.ts'
import {
  faultsByRepair,
  hasSharedRow,
  keysOf,
  type SharedRowKey,
  sharedRowOf,
  soundRowsOf,
} from '../../shared/check/mending.ts'
import { TOMBSTONE_ID } from '../../shared/columns.ts'
import { writeTransaction } from '../database/connection.ts'
import { writeAheadLogOf } from '../database/write-ahead-log.ts'
import { sharedRowWriter } from '../facts/shared-rows.ts'
import { openLedgerFile } from '../ledger/file.ts'
import type { StoreFiles } from '../locations.ts'
import { checkedFactsRows } from './check/facts.ts'
import { answered } from './check/inverse.ts'

/** In this order, because counters follow from rows. */
const REPAIRS: readonly [RowRepair | Removal, (database: DatabaseSync, faults: readonly CheckFault[]) => void][] = [
  ['slot', moveNames],
  ['name', mendNames],
  ['count', recount],
  ['page', removePages],
  ['document', markDocuments],
  ['certificate', countCertificates],
  ['listing', mendListing],
  ['lease', addLeases],
  ['row', removeRows],
  ['orphan', removeOrphans],
]

export function sqliteRepair(database: DatabaseSync, files: StoreFiles): StoreMaintenance['repair'] {
  const log = writeAheadLogOf(database, files.facts)
  return async (faults) => {
    const found = faultsByRepair(faults)
    await log.whenBounded(() =>
      writeTransaction(database, () => {
        for (const [repair, mend] of REPAIRS) if (found.has(repair)) mend(database, found.get(repair)!)
      }),
    )
    const ofTables = found.get('ledger') ?? []
    const isOfEvents = ({ table }: CheckFault): boolean => table === EVENT_FINDING.table
    runStatements(database, ledgerRepairs(ofTables.filter(isOfEvents)))
    const ofLedger = ledgerRepairs(ofTables.filter((fault) => !isOfEvents(fault)))
    if (ofLedger.length === 0) return
    const ledger = openLedgerFile(files.ledger, 'write')
    try {
      runStatements(ledger, ofLedger)
    } finally {
      ledger.close()
    }
  }
}

function runStatements(database: DatabaseSync, statements: readonly string[]): void {
  if (statements.length > 0) writeTransaction(database, () => database.exec(statements.join(';')))
}

/** Moves names to their slots, if their facts confirm the name. One that is there again is removed. */
function moveNames(database: DatabaseSync, faults: readonly CheckFault[]): void {
  const move = database.prepare(
    `update crawl_state as v set slot = ?3 where slot = ?1 and name = ?2
       and exists (select 1 from facts f where f.id = v.id and f.name = v.name)
       and not exists (select 1 from crawl_state w where w.slot = ?3 and w.name = ?2)`,
  )
  const remove = database.prepare(
    `delete from crawl_state as v where slot = ?1 and name = ?2
       and exists (select 1 from crawl_state w where w.slot = ?3 and w.name = ?2)`,
  )
  for (const key of keysOf(faults)) {
    const [slot, name] = key.split(' ') as [string, DomainName]
    for (const statement of [remove, move]) statement.run(Number(slot), name, slotOf(name))
  }
}

/** Removes the rows of ids that no name has. */
function removeOrphans(database: DatabaseSync, faults: readonly CheckFault[]): void {
  const owner = database.prepare(
    'select 1 from facts f join crawl_state v on v.slot = slot(f.name) and v.name = f.name and v.id = f.id where f.id = ?',
  )
  const removals = [
    'facts',
    'dns_state',
    'dns_interruption',
    'address_first_seen',
    'pending_page',
    'page_document',
  ].map((table) => database.prepare(`delete from ${table} where id = ?`))
  for (const id of keysOf(faults).map(Number))
    if (owner.get(id) === undefined) for (const removal of removals) removal.run(id)
}

/** Returns a function that reads the id of the facts of a name; that of a tombstone if it has none. */
function nameIds(database: DatabaseSync): (name: DomainName) => number {
  const select = database.prepare('select id from crawl_state where slot = ? and name = ?')
  return (name) => (select.get(slotOf(name), name)?.id ?? TOMBSTONE_ID) as number
}

/** What follows from facts; null if they or their superseded states are damaged. */
function soundRowsOfId(database: DatabaseSync, id: number): DerivedRows | null {
  const states = database.prepare('select * from dns_state where id = ?').all(id) as ChecksummedState[]
  const isIntact = (state: ChecksummedState): boolean =>
    matchesChecksum(CHECKSUM_COLUMNS.dns_state, state, (column) => state[column]!)
  return states.every(isIntact) ? soundRowsOf([...checkedFactsRows(database, id, id)][0]) : null
}
type ChecksummedState = Record<string, string | number | null> & { checksum: number | null }

/** Writes what follows from the facts of names whose facts are sound. */
function mendNames(database: DatabaseSync, faults: readonly CheckFault[]): void {
  const idOf = nameIds(database)
  const removeFirstSeen = database.prepare('delete from address_first_seen where id = ?')
  const insertFirstSeen = database.prepare('insert into address_first_seen (id, address, first_seen) values (?, ?, ?)')
  const shared = sharedRowWriter(database)()
  for (const name of keysOf(faults) as DomainName[]) {
    const id = idOf(name)
    const rows = soundRowsOfId(database, id)
    if (rows === null) continue
    removeFirstSeen.run(id)
    for (const [address, first] of rows.firstSeen) insertFirstSeen.run(id, packAddress(address), first)
    for (const address of rows.addresses) {
      shared.leave(address, name)
      shared.arrive(address, name, formatInstant(rows.firstSeen.get(address)!))
    }
    if (rows.redirectsTo === null) continue
    shared.removeRedirect(rows.redirectsTo, name)
    shared.addRedirect(rows.redirectsTo, name)
  }
  shared.finish()
}

/** Removes rows that contradict the facts of their name. Rows of a name whose facts are damaged stay. */
function removeRows(database: DatabaseSync, faults: readonly CheckFault[]): void {
  const idOf = nameIds(database)
  const removals = {
    presence: database.prepare('delete from presence where address = unhex(?) and name = ?'),
    redirect: database.prepare('delete from redirect where target = ? and source = ?'),
  }
  for (const { table, key, name } of faults.map(sharedRowOf)) {
    const id = idOf(name)
    const rows = id === TOMBSTONE_ID ? null : soundRowsOfId(database, id)
    if (id !== TOMBSTONE_ID && rows === null) continue
    if (rows === null || !hasSharedRow(rows, { table, key })) removals[table].run(key, name)
    recountKey(database, { table, key })
  }
}

function recount(database: DatabaseSync, faults: readonly CheckFault[]): void {
  for (const row of faults.map(sharedRowOf)) recountKey(database, row)
}

/** Writes the counter of an address or a target; none if it has no row. */
function recountKey(database: DatabaseSync, { table, key }: Omit<SharedRowKey, 'name'>): void {
  const [counter, column, count] =
    table === 'presence' ? ['address_count', 'address', 'names'] : ['redirect_count', 'target', 'sources']
  const value = table === 'presence' ? Buffer.from(key, 'hex') : key
  database.prepare(`delete from ${counter} where ${column} = ?`).run(value)
  database
    .prepare(
      `insert into ${counter} (${column}, ${count}) select ?1, count(*) from ${table} where ${column} = ?1 having count(*) > 0`,
    )
    .run(value)
}

function removePages(database: DatabaseSync, faults: readonly CheckFault[]): void {
  const remove = database.prepare(
    `delete from page_document where id = (select f.id from crawl_state v join facts f on f.id = v.id
       where v.slot = ? and v.name = ? and f.text_digest is null)`,
  )
  for (const name of keysOf(faults) as DomainName[]) remove.run(slotOf(name), name)
}

/** The indexer deletes the document if no start page has it. */
function markDocuments(database: DatabaseSync, faults: readonly CheckFault[]): void {
  const insert = database.prepare('insert or ignore into orphan_document (document) values (?)')
  for (const document of keysOf(faults)) insert.run(Number(document))
}

/** Counts the states of certificates by the inverse index. */
function countCertificates(database: DatabaseSync, faults: readonly CheckFault[]): void {
  if (database.prepare(`select 1 from metadata where name = 'inverse_fill'`).get() !== undefined) return
  const count = database.prepare('update certificate set states = ? where sha256 = unhex(?)')
  for (const sha256 of keysOf(faults)) {
    const states = answered(database, countStates(sha256))
    if (states !== null) count.run(states, sha256)
  }
}

/** Lists known names, and removes forgotten ones as the trigger `add_pending_removal` does. */
function mendListing(database: DatabaseSync, faults: readonly CheckFault[]): void {
  const list = database.prepare(
    `insert into pending_name (name) select name from crawl_state v where slot = ? and name = ? and id is not ${TOMBSTONE_ID}
       and not exists (select 1 from sorted_name l where l.name = v.name)
       and not exists (select 1 from pending_name p where p.name = v.name)`,
  )
  const known = database.prepare(`select 1 from crawl_state where slot = ? and name = ? and id is not ${TOMBSTONE_ID}`)
  const unlist = database.prepare('delete from sorted_name where name = ?')
  const count = database.prepare(`update metadata set value = cast(value as integer) - ? where name = 'sorted_names'`)
  const skip = database.prepare(
    `insert into pending_removal (name, position) select ?1, max(position) from pending_name where true
       having max(position) is not null on conflict do update set position = excluded.position`,
  )
  for (const name of keysOf(faults) as DomainName[]) {
    list.run(slotOf(name), name)
    if (known.get(slotOf(name), name) !== undefined) continue
    count.run(unlist.run(name).changes)
    skip.run(name)
  }
}

/** A new lease has a fence above all others, so that no late write of a crawler passes. */
function addLeases(database: DatabaseSync, faults: readonly CheckFault[]): void {
  const insert = database.prepare(
    `insert or replace into slot_lease (slot_range, fence, next_sweep)
     select ?, coalesce(max(fence), 0) + 1, 0 from slot_lease`,
  )
  for (const range of keysOf(faults)) insert.run(Number(range))
}
