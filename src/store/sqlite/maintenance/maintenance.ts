/** Maintenance on SQLite: the check in slices, and sizes. */

import { statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { type DomainName, slotOf } from '../../../values/domain-name.ts'
import type { StoreMaintenance } from '../../port/store.ts'
import { sequentialCheck } from '../../shared/check/sequence.ts'
import { walBytes } from '../database/connection.ts'
import { SQLITE_FACTS_SCHEMA } from '../database/migrate.ts'
import type { StoreFiles } from '../locations.ts'
import { checkFrequencies, checkPostings, checkStates, numbersKeyBeyond } from './check/checksums.ts'
import { checkCrawlStatesSqlite } from './check/crawl-states.ts'
import { numberKeyBeyond, type SqliteCheckPart, skippingDamage, slotKeyBeyond, textKeyBeyond } from './check/damaged.ts'
import { checkFactsSqlite } from './check/facts.ts'
import { checkSlotLeases } from './check/leases.ts'
import { checkLedgerSqlite } from './check/ledger.ts'
import { checkKnownNames, checkPendingNames, checkSortedNames } from './check/listing.ts'
import { schemaFaults } from './check/schema.ts'
import {
  checkAddressesSqlite,
  checkDocumentsSqlite,
  checkPresenceSqlite,
  checkRedirectsSqlite,
  checkTargetsSqlite,
} from './check/shared.ts'

const keyAfterOneText = textKeyBeyond(1)

const SQLITE_CHECK_PARTS: readonly SqliteCheckPart[] = [
  { name: 'crawl_state', check: checkCrawlStatesSqlite, keyBeyond: slotKeyBeyond },
  { name: 'facts', check: checkFactsSqlite, keyBeyond: numberKeyBeyond },
  { name: 'dns_state', check: checkStates, keyBeyond: numbersKeyBeyond(3) },
  { name: 'presence', check: checkPresenceSqlite, keyBeyond: textKeyBeyond(2, true) },
  { name: 'address_count', check: checkAddressesSqlite, keyBeyond: textKeyBeyond(1, true) },
  { name: 'redirect', check: checkRedirectsSqlite, keyBeyond: textKeyBeyond(2) },
  { name: 'redirect_count', check: checkTargetsSqlite, keyBeyond: keyAfterOneText },
  { name: 'document', check: checkDocumentsSqlite, keyBeyond: numbersKeyBeyond(1) },
  { name: 'posting', check: checkPostings, keyBeyond: numbersKeyBeyond(3) },
  { name: 'document_frequency', check: checkFrequencies, keyBeyond: numbersKeyBeyond(2) },
  { name: 'known', check: checkKnownNames, keyBeyond: slotKeyBeyond },
  {
    name: 'sorted_name',
    check: checkSortedNames,
    keyBeyond: (after, step) => firstText(keyAfterOneText(after === null ? null : JSON.stringify([after]), step)),
  },
  { name: 'pending_name', check: checkPendingNames, keyBeyond: numberKeyBeyond },
  { name: 'slot_lease', check: checkSlotLeases, keyBeyond: () => null },
]

function firstText(key: string | null): string | null {
  return key === null ? null : (JSON.parse(key) as [string])[0]
}

export function sqliteMaintenance(database: DatabaseSync, { facts: path, ledger }: StoreFiles): StoreMaintenance {
  database.function('slot', { deterministic: true }, (name) => slotOf(name as DomainName))
  return {
    check: sequentialCheck([
      ['schema', () => ({ faults: schemaFaults(database, SQLITE_FACTS_SCHEMA, 'schema'), checked: 0, last: null })],
      ...SQLITE_CHECK_PARTS.map((part) => [part.name, skippingDamage(database, part)] as const),
      ['ledger', checkLedgerSqlite(ledger)],
    ]),
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
    sizes: async () => ({ facts: statSync(path).size, log: walBytes(path) }),
  }
}
