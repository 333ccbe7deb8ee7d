/** Checks rows whose damage only a checksum can show, on both engines. */

import {
  emptyDocumentFrequencies,
  MAX_ROW_TERMS,
  unpackDocumentFrequencies,
} from '../../../similar/postings/document-frequencies.ts'
import { unpackPostingRow } from '../../../similar/postings/postings.ts'
import type { CheckFault } from '../../port/store.ts'
import { CHECKSUM_COLUMNS, type ChecksummedTable, type ChecksumValue, matchesChecksum } from './checksum.ts'
import type { KeyColumn } from './damaged.ts'
import { type CheckSlice, checkSlice, problemReporter, reportIfUnreadable } from './slice.ts'

/** `owned` is 0 for the row of an id without facts: it is reported as such, so its checksum does not count. */
export type ChecksummedRow = Record<string, ChecksumValue> & { checksum: number | null; owned?: number }

export type ChecksumCheck = {
  table: ChecksummedTable
  /** The columns of the key, which its checksums cover first. */
  keys: readonly string[]
  /** Parses the content of a row without a checksum. Throws if it cannot be parsed. */
  read?(row: ChecksummedRow): void
}

/** `keyLength`: the number of columns of the key. */
export function checksumCheck(
  table: ChecksummedTable,
  keyLength: number,
  read?: (row: ChecksummedRow) => void,
): ChecksumCheck {
  return { table, keys: CHECKSUM_COLUMNS[table][0]!.slice(0, keyLength), ...(read && { read }) }
}

export const POSTINGS_CHECK = checksumCheck(
  'posting',
  3,
  ({ postings }) => void unpackPostingRow(postings as Uint8Array),
)
export const FREQUENCIES_CHECK = checksumCheck('document_frequency', 2, ({ counts }) =>
  unpackDocumentFrequencies(counts as Uint8Array, emptyDocumentFrequencies(MAX_ROW_TERMS)),
)

/** The columns of the key, for CheckedTable. */
export function keyColumnsOf({ keys }: ChecksumCheck): KeyColumn[] {
  return keys.map(() => 'number')
}

/** The values of the key after which a slice begins. */
export function checksumKeyAfter({ keys }: ChecksumCheck, after: string | null): number[] {
  return after === null ? keys.map(() => -1) : (JSON.parse(after) as number[])
}

/** Checks the rows of a slice, which are in the order of the key. */
export function checkChecksumRows({ table, keys, read }: ChecksumCheck, rows: readonly ChecksummedRow[]): CheckSlice {
  const faults: CheckFault[] = []
  for (const row of rows) {
    const report = problemReporter(faults, table, keys.map((column) => row[column]).join(' '))
    if (row.owned !== 0 && !matchesChecksum(CHECKSUM_COLUMNS[table], row, (column) => row[column]!))
      report('does not match its checksum')
    if (row.checksum === null) reportIfUnreadable(report, () => read?.(row))
  }
  const last = rows.at(-1)
  return checkSlice(faults, rows.length, last && JSON.stringify(keys.map((column) => last[column])))
}
