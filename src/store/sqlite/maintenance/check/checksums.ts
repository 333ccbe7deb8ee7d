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
import { matchesChecksum } from '../../database/checksum.ts'

type ChecksummedValue = string | number | null | Uint8Array
type ChecksummedRow = Record<string, ChecksummedValue> & { checksum: number | null }
type ChecksummedTable = {
  table: string
  /** The first `key` columns are the key. */
  columns: readonly string[]
  key: number
  /** Parses the content of a row without a checksum. Throws if it cannot be parsed. */
  read?(row: ChecksummedRow): void
}

const STATE_TABLE: ChecksummedTable = {
  table: 'dns_state',
  columns: ['id', 'type', 'first_seen', 'last_confirmed', 'records', 'serial', 'base_first_seen'],
  key: 3,
  read: ({ records }) => void (records !== null && JSON.parse(records as string)),
}
const INTERRUPTION_TABLE: ChecksummedTable = {
  table: 'dns_interruption',
  columns: ['id', 'type', 'seen_again', 'last_seen'],
  key: 3,
}
const POSTING_TABLE: ChecksummedTable = {
  table: 'posting',
  columns: ['segment', 'key', 'document', 'postings'],
  key: 3,
  read: ({ postings }) => void unpackPostingRow(postings as Uint8Array),
}
const FREQUENCY_TABLE: ChecksummedTable = {
  table: 'document_frequency',
  columns: ['segment', 'last_term', 'counts'],
  key: 2,
  read: ({ counts }) => unpackDocumentFrequencies(counts as Uint8Array, emptyDocumentFrequencies(MAX_ROW_TERMS)),
}

export const checkStates = checkChecksums(STATE_TABLE)
export const checkInterruptions = checkChecksums(INTERRUPTION_TABLE)
export const checkPostings = checkChecksums(POSTING_TABLE)
export const checkFrequencies = checkChecksums(FREQUENCY_TABLE)

function checkChecksums({ table, columns, key, read }: ChecksummedTable) {
  const keys = columns.slice(0, key)
  return (database: DatabaseSync, after: string | null, limit: number): CheckSlice => {
    const from = after === null ? keys.map(() => -1) : (JSON.parse(after) as number[])
    const rows = database
      .prepare(
        `select ${columns}, checksum from ${table} where (${keys}) > (${keys.map(() => '?')}) order by ${keys} limit ?`,
      )
      .all(...from, limit) as ChecksummedRow[]
    const faults: CheckFault[] = []
    for (const row of rows) {
      const report: ReportProblem = problemReporter(faults, table, keys.map((column) => row[column]).join(' '))
      if (
        !matchesChecksum(
          row.checksum,
          columns.map((column) => row[column]!),
        )
      )
        report('does not match its checksum')
      if (row.checksum === null) reportIfUnreadable(report, () => read?.(row))
    }
    const last = rows.at(-1)
    return checkSlice(faults, rows.length, last && JSON.stringify(keys.map((column) => last[column])))
  }
}
