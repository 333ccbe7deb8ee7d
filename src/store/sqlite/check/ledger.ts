/** The check of the ledger's file: its schema, its pages and its rows. */

import type { DatabaseSync } from 'node:sqlite'
import { LEDGER_FINDINGS, LEDGER_ROWS, ledgerFaults } from '../../check/ledger.ts'
import type { CheckPart } from '../../check/parts.ts'
import type { Slice } from '../../check/slice.ts'
import type { Fault } from '../../store.ts'
import { connect } from '../connection.ts'
import { LEDGER_SCHEMA } from '../ledger/file.ts'
import { expectDamage } from './damaged.ts'
import { schemaFaults } from './schema.ts'

/** All at once: of the ledger, the rows of many years are fewer than those of a day's crawl. */
export function checkLedger(path: string): CheckPart {
  return () => {
    const database = connect(path, { readOnly: true })
    try {
      return looked(database)
    } finally {
      database.close()
    }
  }
}

function looked(database: DatabaseSync): Slice {
  const faults: Fault[] = []
  let checked = 0
  const look = (part: () => Fault[]): void => {
    try {
      faults.push(...part())
    } catch (error) {
      const { message } = expectDamage(error) as Error
      faults.push({ table: 'ledger', key: 'file', problem: `cannot be read: ${message}` })
    }
  }
  look(() => schemaFaults(database, LEDGER_SCHEMA, 'ledger'))
  look(() => damagedPages(database))
  for (const finding of LEDGER_FINDINGS)
    look(() => ledgerFaults(finding, database.prepare(finding.text).all() as { place: number }[]))
  look(() => {
    checked = database.prepare(LEDGER_ROWS.text).get()!.rows as number
    return []
  })
  return { faults, checked, last: null }
}

/** Pages, the order of keys, and whether each index has the rows of its table. */
function damagedPages(database: DatabaseSync): Fault[] {
  const rows = database.prepare('pragma integrity_check').all() as { integrity_check: string }[]
  const problems = rows.map(({ integrity_check }) => integrity_check).filter((words) => words !== 'ok')
  return problems.map((problem) => ({ table: 'ledger', key: 'file', problem }))
}
