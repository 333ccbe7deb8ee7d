/** Checksums of rows: they detect damage to rows that no other row repeats. */

import { crc32 } from 'node:zlib'
import { checksumColumns } from '../tables.ts'

export type ChecksumValue = string | number | null | Uint8Array

/**
 * The columns that the checksums of each table cover, in order, by version. A list never changes: a new column, whose
 * table gets a further list at the end, leaves the checksums of stored rows as they are.
 */
export const CHECKSUM_COLUMNS: Record<ChecksummedTable, readonly (readonly string[])[]> = {
  facts: checksumColumns('facts'),
  dns_state: checksumColumns('dns_state'),
  dns_interruption: checksumColumns('dns_interruption'),
  certificate: checksumColumns('certificate'),
  posting: [['segment', 'key', 'document', 'postings']],
  document_frequency: [['segment', 'last_term', 'counts']],
  inverse_block: [['run', 'last_position', 'entries']],
}

export type ChecksummedFacts = 'facts' | 'dns_state' | 'dns_interruption' | 'certificate'
export type ChecksummedTable = ChecksummedFacts | 'posting' | 'document_frequency' | 'inverse_block'

/** A checksum is its version times this number, plus a CRC-32. */
const VERSION_UNIT = 2 ** 32

/** The checksum of a new row. `values`: in the order of the newest list of its table. */
export function checksumOf(table: ChecksummedTable, values: readonly ChecksumValue[]): number {
  return (CHECKSUM_COLUMNS[table].length - 1) * VERSION_UNIT + crcOf(values)
}

/**
 * Whether the checksum of a row matches the columns of its version. True if the row has none, or one of a version that
 * a newer release wrote. `lists`: those of its table.
 */
export function matchesChecksum(
  lists: readonly (readonly string[])[],
  { checksum }: { checksum: number | null },
  columnValue: (column: string) => ChecksumValue,
): boolean {
  if (checksum === null) return true
  const columns = lists[Math.floor(checksum / VERSION_UNIT)]
  return columns === undefined || checksum % VERSION_UNIT === crcOf(columns.map(columnValue))
}

/**
 * CRC-32 of values in order, each with a line feed. The store keeps it, so the computation must never change.
 */
export function crcOf(values: readonly ChecksumValue[]): number {
  let sum = 0
  let text = '' // of the values since the last blob: one call costs less than one for each value
  for (const value of values) {
    if (value instanceof Uint8Array) {
      sum = crc32(value, crc32(text, sum))
      text = '\n'
    } else text += `${typeof value === 'string' ? JSON.stringify(value) : value}\n`
  }
  return crc32(text, sum)
}
