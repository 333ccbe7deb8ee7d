/** Checks the ledger's file: its schema, its pages and its rows. */

import type { DatabaseSync } from 'node:sqlite'
import type { CheckFault } from '../../../port/store.ts'
import { LEDGER_FINDING_QUERIES, LEDGER_ROWS, ledgerFaults } from '../../../shared/check/ledger.ts'
import type { CheckPart } from '../../../shared/check/sequence.ts'
import type { CheckSlice } from '../../../shared/check/slice.ts'
import { connectSqlite } from '../../database/connection.ts'
import { damageMessage } from '../../database/errors.ts'
import { SQLITE_LEDGER_SCHEMA } from '../../ledger/file.ts'
import { schemaFaults } from './schema.ts'

/** Checks everything at once: the ledger's rows of many years are fewer than those of one day's crawl. */
export function checkLedgerSqlite(path: string): CheckPart {
  return () => {
    const database = connectSqlite(path, { readOnly: true })
    try {
      return checkLedgerFile(database)
    } finally {
      database.close()
    }
  }
}

function checkLedgerFile(database: DatabaseSync): CheckSlice {
  const faults: CheckFault[] = []
  let checked = 0
  const collect = (part: () => CheckFault[]): void => {
    try {
      faults.push(...part())
    } catch (error) {
      faults.push({ table: 'ledger', key: 'file', problem: `cannot be read: ${damageMessage(error)}` })
    }
  }
  collect(() => schemaFaults(database, SQLITE_LEDGER_SCHEMA, 'ledger'))
  collect(() => damagedPages(database))
  for (const finding of LEDGER_FINDING_QUERIES)
    collect(() => ledgerFaults(finding, database.prepare(finding.text).all() as { place: number }[]))
  collect(() => {
    checked = database.prepare(LEDGER_ROWS.text).get()!.rows as number
    return []
  })
  return { faults, checked, last: null }
}

/** Checks pages, the order of keys, and that each index matches its table. */
function damagedPages(database: DatabaseSync): CheckFault[] {
  const rows = database.prepare('pragma integrity_check').all() as { integrity_check: string }[]
  const problems = rows.map(({ integrity_check }) => integrity_check).filter((message) => message !== 'ok')
  return problems.map((problem) => ({ table: 'ledger', key: 'file', problem }))
}
