/**
 * The order in which the names of a zone are stored: the order of the store's slots, so that writes are close together.
 */

import { addToHash, EMPTY_HASH, mixHash } from '../../values/name-hash.ts'

/** Number of parts of a zone's names, one for each range of slots (`values/domain-name.ts`). */
export const ZONE_PARTS = 256

/**
 * Returns the hash of a name: `bytes` holds the label, and `suffix` the rest from its dot on. The upper half is the
 * slot.
 */
export function labelHash(bytes: Uint8Array, from: number, length: number, suffix: Uint8Array): number {
  let hash = EMPTY_HASH
  for (let at = from; at < from + length; at++) hash = addToHash(hash, bytes[at]!)
  for (let at = 0; at < suffix.length; at++) hash = addToHash(hash, suffix[at]!)
  return mixHash(hash)
}

/** Returns the part of a hash. The first is 0. */
export function partOfHash(hash: number): number {
  return hash >>> 24
}

/** Returns the suffix of an apex as labelHash takes it, such as `.gov`. */
export function zoneSuffix(apex: string): Uint8Array {
  return Buffer.from(`.${apex}`, 'latin1')
}
