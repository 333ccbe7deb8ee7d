/** The Merkle tree of the lab's log, computed by its definition (RFC 9162, section 2.1), without any state. */

import { createHash } from 'node:crypto'

const sha256 = (...parts: Uint8Array[]): Buffer =>
  parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest()

export const leafHashOf = (leaf: Uint8Array): Buffer => sha256(Buffer.from([0]), leaf)

/** The largest power of two below n. */
function splitOf(n: number): number {
  let k = 1
  while (2 * k < n) k *= 2
  return k
}

/** MTH. */
export function rootOf(leaves: readonly Buffer[]): Buffer {
  if (leaves.length === 0) return sha256()
  if (leaves.length === 1) return leaves[0]!
  const k = splitOf(leaves.length)
  return sha256(Buffer.from([1]), rootOf(leaves.slice(0, k)), rootOf(leaves.slice(k)))
}

/** PATH. */
export function pathOf(index: number, leaves: readonly Buffer[]): Buffer[] {
  if (leaves.length <= 1) return []
  const k = splitOf(leaves.length)
  return index < k
    ? [...pathOf(index, leaves.slice(0, k)), rootOf(leaves.slice(k))]
    : [...pathOf(index - k, leaves.slice(k)), rootOf(leaves.slice(0, k))]
}

/** PROOF. */
export function consistencyOf(first: number, leaves: readonly Buffer[]): Buffer[] {
  return subProof(first, leaves, true)
}

function subProof(m: number, leaves: readonly Buffer[], isWhole: boolean): Buffer[] {
  if (m === leaves.length) return isWhole ? [] : [rootOf(leaves)]
  const k = splitOf(leaves.length)
  return m <= k
    ? [...subProof(m, leaves.slice(0, k), isWhole), rootOf(leaves.slice(k))]
    : [...subProof(m - k, leaves.slice(k), false), rootOf(leaves.slice(0, k))]
}
