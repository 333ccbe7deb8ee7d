/** Upkeep on SQLite: the check in slices, and sizes. */

import { statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { type DomainName, slotOf } from '../../../values/domain-name.ts'
import { sequentialCheck } from '../../shared/check/sequence.ts'
import type { StoreMaintenance } from '../../port/store.ts'
import { numberKeyBeyond, slotKeyBeyond, textKeyBeyond, skippingDamage, type SqliteCheckPart } from './check/damaged.ts'
import { checkFactsSqlite } from './check/facts.ts'
import { checkSlotLeases } from './check/leases.ts'
import { checkLedgerSqlite } from './check/ledger.ts'
import { checkPendingNames, checkKnownNames, checkSortedNames } from './check/listing.ts'
import { schemaFaults } from './check/schema.ts'
import { checkAddressesSqlite, checkPresenceSqlite, checkRedirectsSqlite, checkTargetsSqlite, checkDocumentsSqlite } from './check/shared.ts'
import { numbersKeyBeyond, checkFrequencies, checkPostings, checkStates } from './check/checksums.ts'
import { checkCrawlStatesSqlite } from './check/crawl-states.ts'
import { walBytes } from '../database/connection.ts'
import type { StoreFiles } from '../database/file-paths.ts'
import { SQLITE_FACTS_SCHEMA } from '../database/migrate.ts'

const keyAfterOneText = textKeyBeyond(1)

const SQLITE_CHECK_PARTS: readonly SqliteCheckPart[] = [
  { name: 'visit', check: checkCrawlStatesSqlite, keyBeyond: slotKeyBeyond },
  { name: 'facts', check: checkFactsSqlite, keyBeyond: numberKeyBeyond },
  { name: 'state', check: checkStates, keyBeyond: numbersKeyBeyond(3) },
  { name: 'presence', check: checkPresenceSqlite, keyBeyond: textKeyBeyond(2, true) },
  { name: 'address', check: checkAddressesSqlite, keyBeyond: textKeyBeyond(1, true) },
  { name: 'redirect', check: checkRedirectsSqlite, keyBeyond: textKeyBeyond(2) },
  { name: 'target', check: checkTargetsSqlite, keyBeyond: keyAfterOneText },
  { name: 'wording', check: checkDocumentsSqlite, keyBeyond: numbersKeyBeyond(1) },
  { name: 'posting', check: checkPostings, keyBeyond: numbersKeyBeyond(3) },
  { name: 'frequency', check: checkFrequencies, keyBeyond: numbersKeyBeyond(2) },
  { name: 'known', check: checkKnownNames, keyBeyond: slotKeyBeyond },
  {
    name: 'listed',
    check: checkSortedNames,
    keyBeyond: (after, n) => firstText(keyAfterOneText(after === null ? null : JSON.stringify([after]), n)),
  },
  { name: 'arrival', check: checkPendingNames, keyBeyond: numberKeyBeyond },
  { name: 'lease', check: checkSlotLeases, keyBeyond: () => null },
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
      const row = database.prepare('select value from mark where name = ?').get(`job:${job}`)
      return (row?.value as string | undefined) ?? null
    },
    async saveProgress(job, progress) {
      const sql =
        progress === null
          ? database.prepare('delete from mark where name = ?')
          : database.prepare('insert or replace into mark (name, value) values (?, ?)')
      sql.run(`job:${job}`, ...(progress === null ? [] : [progress]))
    },
    sizes: async () => ({ facts: statSync(path).size, log: walBytes(path) }),
  }
}
