/** Checksums of rows: they detect damage to rows that no other row repeats. */

import { crc32 } from 'node:zlib'

type ChecksumValue = string | number | null | Uint8Array

/**
 * CRC-32 of a row's values in column order, each with a line feed, without the checksum. The store keeps it, so the
 * computation must never change.
 */
export function checksumOf(values: readonly ChecksumValue[]): number {
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

/** Whether the checksum of a row matches; true if the row has none. */
export function matchesChecksum(checksum: number | null, values: readonly ChecksumValue[]): boolean {
  return checksum === null || checksum === checksumOf(values)
}
