/** Checksums of rows: what tells a damaged row from a whole one where no other row says the same. */

import { crc32 } from 'node:zlib'

type ChecksumValue = string | number | null | Uint8Array

/** CRC-32 of the values of a row in the order of its columns, without that of the checksum. Stored: it must never change. */
export function checksumOf(values: readonly ChecksumValue[]): number {
  let sum = 0
  for (const value of values) {
    sum = crc32(value instanceof Uint8Array ? value : JSON.stringify(value), sum)
    sum = crc32('\n', sum)
  }
  return sum
}

/** Whether a row is what was written; a row without a checksum may be. */
export function matchesChecksum(checksum: number | null, values: readonly ChecksumValue[]): boolean {
  return checksum === null || checksum === checksumOf(values)
}
