/** Checksums of rows: they detect damage to rows that no other row repeats. */

import { crc32 } from 'node:zlib'

type ChecksumValue = string | number | null | Uint8Array

/**
 * CRC-32 of a row's values in column order, without the checksum. The store keeps it, so the computation must never
 * change.
 */
export function checksumOf(values: readonly ChecksumValue[]): number {
  let sum = 0
  for (const value of values) {
    sum = crc32(value instanceof Uint8Array ? value : JSON.stringify(value), sum)
    sum = crc32('\n', sum)
  }
  return sum
}

/** Whether the checksum of a row matches; true if the row has none. */
export function matchesChecksum(checksum: number | null, values: readonly ChecksumValue[]): boolean {
  return checksum === null || checksum === checksumOf(values)
}
