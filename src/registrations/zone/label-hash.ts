/**
 * The order in which the names of a zone are kept: that of the store's slots, so that they are written where they lie
 * together.
 */

/** The parts that a zone's names are kept in, one for each range of slots (words/name.ts). */
export const ZONE_PARTS = 256

/**
 * The hash of a name of which `bytes` has the label and `suffix` the rest, from its dot on: its upper half is the
 * name's slot.
 */
export function labelHash(bytes: Uint8Array, from: number, length: number, suffix: Uint8Array): number {
  let hash = 0x811c9dc5
  for (let at = from; at < from + length; at++) hash = Math.imul(hash ^ bytes[at]!, 0x01000193)
  for (let at = 0; at < suffix.length; at++) hash = Math.imul(hash ^ suffix[at]!, 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** The first of the PARTS that a hash belongs to is 0. */
export function partOfHash(hash: number): number {
  return hash >>> 24
}

/** `.gov`, as hashOf takes it. */
export function zoneSuffix(apex: string): Uint8Array {
  return Buffer.from(`.${apex}`, 'latin1')
}
