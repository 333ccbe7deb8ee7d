/**
 * The hash of a name: FNV-1a (32 bits) over its bytes, mixed by the finalizer of MurmurHash3. Stores contain its upper
 * half, the slot, as a key, so it must never change.
 */

/** The hash of no bytes, before it is mixed. */
export const EMPTY_HASH = 0x811c9dc5

/** Adds one byte to a hash that is not mixed yet. */
export function addToHash(hash: number, byte: number): number {
  return Math.imul(hash ^ byte, 0x01000193)
}

/** Mixes a hash after its last byte. Returns an unsigned number of 32 bits. */
export function mixHash(hash: number): number {
  const once = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35)
  return (twice ^ (twice >>> 16)) >>> 0
}
