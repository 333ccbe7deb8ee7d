/** Partitions: the first column of each key, by which Citus distributes tables over machines. */

import { hash } from 'node:crypto'
import { type DomainName, slotOf, slotRangeOf } from '../../../values/domain-name.ts'
import { type IpAddress, packAddress } from '../../../values/ip-address.ts'
import { plainArray } from './arrays.ts'

/**
 * The value of `part` for each position, 0 to 255, in ascending order. A position is a slot range, or the first byte of
 * the hash of an address. Citus hashes these values to each number of shards evenly: 256 / n values to each of n shards,
 * if n is a power of two up to 256. `scripts/part-values.ts` computes them.
 */
// biome-ignore format: 256 numbers
export const PART_VALUES: readonly number[] = [
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16, 17, 18, 19, 20, 21, 22, 24, 26, 27, 28, 29, 30, 31, 33, 34,
  35, 36, 37, 39, 40, 41, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 55, 56, 57, 58, 59, 60, 61, 62, 64, 65, 66, 67,
  70, 71, 72, 73, 75, 77, 78, 79, 80, 81, 82, 83, 85, 86, 88, 89, 90, 92, 93, 94, 95, 96, 99, 101, 102, 103, 104,
  106, 107, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119, 121, 124, 126, 128, 129, 131, 132, 133, 134, 136,
  140, 141, 144, 146, 148, 149, 154, 155, 157, 158, 160, 161, 162, 165, 166, 167, 168, 169, 170, 172, 174, 178, 179,
  184, 185, 186, 187, 190, 191, 192, 194, 195, 196, 198, 199, 200, 202, 205, 208, 215, 217, 219, 224, 228, 230, 232,
  233, 234, 240, 249, 259, 260, 261, 262, 264, 265, 269, 271, 275, 278, 287, 290, 291, 293, 295, 298, 300, 302, 303,
  307, 308, 311, 314, 323, 324, 333, 335, 340, 344, 349, 351, 353, 354, 356, 357, 366, 367, 368, 371, 375, 381, 382,
  387, 388, 406, 412, 413, 416, 422, 426, 439, 443, 453, 454, 458, 466, 477, 479, 480, 481, 490, 492, 501, 504, 509,
  515, 516, 517, 520, 522, 525, 552, 564, 574, 579, 598, 619, 631, 632, 633, 645, 652, 656, 689, 726, 729, 731, 747,
  749, 846, 912, 928, 1004, 1101, 1487, 1512,
]

/** The partition of all rows of a name, and of those that redirect to it. */
export function partitionOfName(name: DomainName): number {
  return PART_VALUES[slotRangeOf(name)]!
}

/** The key of a name's crawl state. */
export function crawlStateKey(name: DomainName): [part: number, slot: number, name: DomainName] {
  return [partitionOfName(name), slotOf(name), name]
}

/** The partition of the names of a slot; 0 to 65,535. */
export function partitionOfSlot(slot: number): number {
  return PART_VALUES[slot >> 8]!
}

/** The partition of all rows of an address, by the first byte of the SHA-256 of its packed bytes. */
export function partitionOfAddress(address: IpAddress): number {
  return partitionOfPackedAddress(packAddress(address))
}

export function partitionOfPackedAddress(address: Uint8Array): number {
  return PART_VALUES[hash('sha256', address, 'buffer')[0]!]!
}

/** The partition of a certificate, by the first byte of its SHA-256. */
export function partitionOfFingerprint(sha256: Uint8Array): number {
  return PART_VALUES[sha256[0]!]!
}

const PART_VALUES_SQL = `'${plainArray(PART_VALUES)}'::smallint[]`

/** `partitionOfSlot` as an SQL expression. */
export function slotPartitionSql(expression: string): string {
  return `(${PART_VALUES_SQL})[(${expression} >> 8) + 1]`
}

/** `partitionOfPackedAddress` as an SQL expression. */
export function addressPartitionSql(expression: string): string {
  return `(${PART_VALUES_SQL})[get_byte(sha256(${expression}), 0) + 1]`
}

/** `partitionOfFingerprint` as an SQL expression. */
export function fingerprintPartitionSql(expression: string): string {
  return `(${PART_VALUES_SQL})[get_byte(${expression}, 0) + 1]`
}
