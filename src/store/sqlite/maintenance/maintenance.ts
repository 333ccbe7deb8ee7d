/** Maintenance on SQLite: the check in slices, and sizes. */

import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { type DomainName, slotOf } from '../../../values/domain-name.ts'
import type { StoreMaintenance, TableSize } from '../../port/store.ts'
import { FREQUENCIES_CHECK, keyColumnsOf, POSTINGS_CHECK } from '../../shared/check/checksummed-rows.ts'
import { type KeyColumn, skippingDamage } from '../../shared/check/damaged.ts'
import { type CheckPart, sequentialCheck } from '../../shared/check/sequence.ts'
import type { CheckSlice } from '../../shared/check/slice.ts'
import { readTransaction, walBytes } from '../database/connection.ts'
import { damageMessage } from '../database/errors.ts'
import { SQLITE_FACTS_SCHEMA } from '../database/migrate.ts'
import type { StoreFiles } from '../locations.ts'
import {
  checkCrawlStatesSqlite,
  checkFactsSqlite,
  checkFrequencies,
  checkInterruptions,
  checkKnownNames,
  checkPendingNames,
  checkPostings,
  checkSlotLeases,
  checkSortedNames,
  checkStates,
} from './check/facts.ts'
import {
  checkCertificatesSqlite,
  checkInverseBlocks,
  checkInverseNames,
  checkInverseRuns,
  checkKeysOfNames,
} from './check/inverse.ts'
import { schemaFaults } from './check/schema.ts'
import { checkPostedTermsSqlite, checkSegmentDocumentsSqlite, checkSegmentsSqlite } from './check/segments.ts'
import {
  checkAddressesSqlite,
  checkDocumentsSqlite,
  checkEventCountsSqlite,
  checkLedgerSqlite,
  checkPresenceSqlite,
  checkRedirectsSqlite,
  checkTargetsSqlite,
  damagedPages,
} from './check/shared.ts'
import { sqliteRepair } from './repair.ts'

/** A table or an index. `hasRowid`: its rows are in its leaves, not in all of its pages. */
type Tree = { name: string; table: string; hasRowid: 0 | 1 }

type SqliteCheckPart = {
  name: string
  columns: readonly KeyColumn[]
  check(database: DatabaseSync, after: string | null, limit: number): CheckSlice
}

const CHECK_PARTS: readonly SqliteCheckPart[] = [
  { name: 'crawl_state', columns: ['slot', 'text'], check: checkCrawlStatesSqlite },
  { name: 'facts', columns: ['number'], check: checkFactsSqlite },
  { name: 'dns_state', columns: ['number', 'number', 'number'], check: checkStates },
  { name: 'dns_interruption', columns: ['number', 'number', 'number'], check: checkInterruptions },
  { name: 'presence', columns: ['hex', 'text'], check: checkPresenceSqlite },
  { name: 'address_count', columns: ['hex'], check: checkAddressesSqlite },
  { name: 'redirect', columns: ['text', 'text'], check: checkRedirectsSqlite },
  { name: 'redirect_count', columns: ['text'], check: checkTargetsSqlite },
  { name: 'document', columns: ['number'], check: checkDocumentsSqlite },
  { name: 'posting', columns: keyColumnsOf(POSTINGS_CHECK), check: checkPostings },
  { name: 'document_frequency', columns: keyColumnsOf(FREQUENCIES_CHECK), check: checkFrequencies },
  { name: 'segment', columns: [], check: checkSegmentsSqlite },
  { name: 'posted_term', columns: [], check: checkPostedTermsSqlite },
  { name: 'segment_document', columns: [], check: checkSegmentDocumentsSqlite },
  { name: 'inverse_run', columns: ['number'], check: checkInverseRuns },
  { name: 'inverse_block', columns: ['number', 'number', 'hex'], check: checkInverseBlocks },
  { name: 'inverse_name', columns: ['number'], check: checkInverseNames },
  { name: 'name_key', columns: ['slot', 'text'], check: checkKeysOfNames },
  { name: 'certificate', columns: ['hex'], check: checkCertificatesSqlite },
  { name: 'known', columns: ['slot', 'text'], check: checkKnownNames },
  { name: 'sorted_name', columns: ['text'], check: checkSortedNames },
  { name: 'pending_name', columns: ['number'], check: checkPendingNames },
  { name: 'slot_lease', columns: [], check: checkSlotLeases },
  { name: 'event_count', columns: [], check: checkEventCountsSqlite },
]

/** A part that reads each slice in a transaction and skips damaged rows. */
function checkPart(database: DatabaseSync, { name, columns, check }: SqliteCheckPart): [string, CheckPart] {
  const checkRows = (after: string | null, limit: number): CheckSlice =>
    readTransaction(database, () => check(database, after, limit))
  return [name, skippingDamage({ name, columns, check: checkRows }, damageMessage)]
}

export function sqliteMaintenance(database: DatabaseSync, files: StoreFiles): StoreMaintenance {
  const { facts: path, ledger } = files
  database.function('slot', { deterministic: true }, (name) => slotOf(name as DomainName))
  return {
    check: sequentialCheck([
      ['schema', () => ({ faults: schemaFaults(database, SQLITE_FACTS_SCHEMA, 'schema'), checked: 0, last: null })],
      ...CHECK_PARTS.map((part) => checkPart(database, part)),
      ['ledger', checkLedgerSqlite(ledger)],
    ]),
    pageFaults: async () => damagedPages(database, 'store'),
    repair: sqliteRepair(database, files),
    progress: async (job) => {
      const row = database.prepare('select value from metadata where name = ?').get(`job:${job}`)
      return (row?.value as string | undefined) ?? null
    },
    async saveProgress(job, progress) {
      const sql =
        progress === null
          ? database.prepare('delete from metadata where name = ?')
          : database.prepare('insert or replace into metadata (name, value) values (?, ?)')
      sql.run(`job:${job}`, ...(progress === null ? [] : [progress]))
    },
    tableSizes: async () => sqliteTableSizes(database, ledger),
    sizes: async () => ({
      facts: statSync(path).size,
      writeAheadLog: walBytes(path),
      ledger: statSync(ledger).size,
      unused: unusedBytes(database) + withLedger(ledger, unusedBytes),
    }),
  }
}

function withLedger<Result>(path: string, read: (database: DatabaseSync) => Result): Result {
  const ledger = new DatabaseSync(path, { readOnly: true })
  try {
    return read(ledger)
  } finally {
    ledger.close()
  }
}

function unusedBytes(database: DatabaseSync): number {
  const sql = 'select freelist_count * page_size as bytes from pragma_freelist_count, pragma_page_size'
  return database.prepare(sql).get()!.bytes as number
}

/** Reads every page of both files, one B-tree per transaction, so that the write-ahead log can be merged in between. */
function sqliteTableSizes(facts: DatabaseSync, ledgerPath: string): TableSize[] {
  const ledger = withLedger(ledgerPath, sizesOf)
  return [...sizesOf(facts), ...ledger.map(({ name, ...sizes }) => ({ name: `ledger.${name}`, ...sizes }))]
}

function sizesOf(database: DatabaseSync): TableSize[] {
  const trees = database
    .prepare(
      `select s.name, s.tbl_name as "table", coalesce(not t.wr, 0) as hasRowid
       from sqlite_schema s left join pragma_table_list t on t.schema = 'main' and t.name = s.name where s.rootpage > 0`,
    )
    .all() as Tree[]
  const size = database.prepare(
    `select sum(pgsize) as bytes, sum(ncell) as cells, sum(iif(pagetype = 'leaf', ncell, 0)) as leafCells
     from dbstat where name = ?`,
  )
  const sizes = new Map<string, TableSize>()
  for (const { name, table, hasRowid } of trees) {
    const row = size.get(name) as Record<'bytes' | 'cells' | 'leafCells', number | null>
    const bytes = row.bytes ?? 0
    const known = sizes.get(table) ?? { name: table, bytes: 0, indexes: 0, rows: null }
    sizes.set(table, {
      name: table,
      bytes: known.bytes + bytes,
      indexes: known.indexes + (name === table ? 0 : bytes),
      rows: name === table ? ((hasRowid ? row.leafCells : row.cells) ?? 0) : known.rows,
    })
  }
  return [...sizes.values()]
}
