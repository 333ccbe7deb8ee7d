/** Checks rows whose damage only a checksum can show: superseded states, and the rows of the index of /similar. */

import type { DatabaseSync } from 'node:sqlite'
import {
  emptyDocumentFrequencies,
  MAX_ROW_TERMS,
  unpackDocumentFrequencies,
} from '../../../../similar/postings/document-frequencies.ts'
import { unpackPostingRow } from '../../../../similar/postings/postings.ts'
import type { CheckFault } from '../../../port/store.ts'
import {
  type CheckSlice,
  checkSlice,
  problemReporter,
  type ReportProblem,
  reportIfUnreadable,
} from '../../../shared/check/slice.ts'
import { CHECKSUM_COLUMNS, type ChecksummedTable, matchesChecksum } from '../../database/checksum.ts'

type ChecksummedValue = string | number | null | Uint8Array
type ChecksummedRow = Record<string, ChecksummedValue> & { checksum: number | null }
type TableCheck = {
  table: ChecksummedTable
  /** The first columns of its first list, which are the key. */
  key: number
  /** Parses the content of a row without a checksum. Throws if it cannot be parsed. */
  read?(row: ChecksummedRow): void
}

const STATE_TABLE: TableCheck = {
  table: 'dns_state',
  key: 3,
  read: ({ records }) => void (records !== null && JSON.parse(records as string)),
}
const INTERRUPTION_TABLE: TableCheck = {
  table: 'dns_interruption',
  key: 3,
}
const POSTING_TABLE: TableCheck = {
  table: 'posting',
  key: 3,
  read: ({ postings }) => void unpackPostingRow(postings as Uint8Array),
}
const FREQUENCY_TABLE: TableCheck = {
  table: 'document_frequency',
  key: 2,
  read: ({ counts }) => unpackDocumentFrequencies(counts as Uint8Array, emptyDocumentFrequencies(MAX_ROW_TERMS)),
}

export const checkStates = checkChecksums(STATE_TABLE)
export const checkInterruptions = checkChecksums(INTERRUPTION_TABLE)
export const checkPostings = checkChecksums(POSTING_TABLE)
export const checkFrequencies = checkChecksums(FREQUENCY_TABLE)

function checkChecksums({ table, key, read }: TableCheck) {
  const keys = CHECKSUM_COLUMNS[table][0]!.slice(0, key)
  return (database: DatabaseSync, after: string | null, limit: number): CheckSlice => {
    const from = after === null ? keys.map(() => -1) : (JSON.parse(after) as number[])
    const rows = database
      .prepare(`select * from ${table} where (${keys}) > (${keys.map(() => '?')}) order by ${keys} limit ?`)
      .all(...from, limit) as ChecksummedRow[]
    const faults: CheckFault[] = []
    for (const row of rows) {
      const report: ReportProblem = problemReporter(faults, table, keys.map((column) => row[column]).join(' '))
      if (!matchesChecksum(CHECKSUM_COLUMNS[table], row, (column) => row[column]!))
        report('does not match its checksum')
      if (row.checksum === null) reportIfUnreadable(report, () => read?.(row))
    }
    const last = rows.at(-1)
    return checkSlice(faults, rows.length, last && JSON.stringify(keys.map((column) => last[column])))
  }
}
