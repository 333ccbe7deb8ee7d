/** The Merkle tree of a certificate log (RFC 9162, section 2.1): hashes, roots, and proofs. Pure. */

import { hash } from 'node:crypto'

export const HASH_BYTES = 32
const NODE_PREFIX = Buffer.from([1])

export function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  return hash('sha256', Buffer.concat([NODE_PREFIX, left, right]), 'buffer')
}

/** The root of a tree without leaves. */
const EMPTY_ROOT = hash('sha256', '', 'buffer')

/**
 * The roots of the complete subtrees that cover the first leaves of a tree, the largest first: one for each bit of their
 * number. They suffice to add leaves and to compute the root.
 */
export class CompactRange {
  #size: number
  readonly #hashes: Buffer[]

  /** Throws RangeError unless there is one hash for each bit of `size`. */
  constructor(size = 0, hashes: readonly Buffer[] = []) {
    if (hashes.length !== bitCount(size)) throw new RangeError(`${size} leaves have ${bitCount(size)} hashes`)
    this.#size = size
    this.#hashes = [...hashes]
  }

  get size(): number {
    return this.#size
  }

  get hashes(): readonly Buffer[] {
    return this.#hashes
  }

  /** Adds the hash of the next leaf. */
  add(leaf: Buffer): void {
    let node = leaf
    for (let size = this.#size; size % 2 === 1; size = (size - 1) / 2) node = nodeHash(this.#hashes.pop()!, node)
    this.#hashes.push(node)
    this.#size++
  }

  root(): Buffer {
    return rootOfSubtrees(this.#hashes)
  }
}

/** The root over subtrees from left to right, each of which is larger than all after it together. */
function rootOfSubtrees(hashes: readonly Buffer[]): Buffer {
  return hashes.length === 0 ? EMPTY_ROOT : hashes.reduceRight((right, left) => nodeHash(left, right))
}

/** The root of a complete subtree over its leaves or nodes, whose number is a power of two. */
export function completeRoot(nodes: readonly Buffer[]): Buffer {
  let level = nodes
  while (level.length > 1) {
    const next: Buffer[] = []
    for (let at = 0; at < level.length; at += 2) next.push(nodeHash(level[at]!, level[at + 1]!))
    level = next
  }
  return level[0]!
}

/**
 * Whether a tree of `second` leaves with `secondRoot` begins with that of `first` leaves (RFC 9162, section 2.1.4.2).
 * `proof`: as a log sends it.
 */
export function isConsistent(
  [first, firstRoot]: readonly [number, Uint8Array],
  [second, secondRoot]: readonly [number, Uint8Array],
  proof: readonly Buffer[],
): boolean {
  if (first > second) return false
  if (first === second) return proof.length === 0 && equalBytes(firstRoot, secondRoot)
  if (first === 0) return proof.length === 0
  const path = isPowerOfTwo(first) ? [Buffer.from(firstRoot), ...proof] : [...proof]
  let [fn, sn] = [first - 1, second - 1]
  while (fn % 2 === 1) [fn, sn] = [(fn - 1) / 2, Math.floor(sn / 2)]
  const start = path.shift()
  if (start === undefined) return false
  let [fr, sr] = [start, start]
  for (const node of path) {
    if (sn === 0) return false
    if (fn % 2 === 1 || fn === sn) {
      fr = nodeHash(node, fr)
      sr = nodeHash(node, sr)
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [fn / 2, Math.floor(sn / 2)]
    } else sr = nodeHash(sr, node)
    ;[fn, sn] = [Math.floor(fn / 2), Math.floor(sn / 2)]
  }
  return sn === 0 && equalBytes(fr, firstRoot) && equalBytes(sr, secondRoot)
}

/**
 * Verifies the audit path of a leaf (RFC 9162, section 2.1.3.2). Returns the compact range of the leaves before it,
 * which its left siblings are, or null if the path does not lead to the root.
 */
export function rangeBefore(
  index: number,
  leaf: Buffer,
  [size, root]: readonly [number, Uint8Array],
  path: readonly Buffer[],
): CompactRange | null {
  if (index >= size) return null
  let [fn, sn, node] = [index, size - 1, leaf]
  const left: Buffer[] = []
  for (const sibling of path) {
    if (sn === 0) return null
    if (fn % 2 === 1 || fn === sn) {
      left.unshift(sibling)
      node = nodeHash(sibling, node)
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [fn / 2, Math.floor(sn / 2)]
    } else node = nodeHash(node, sibling)
    ;[fn, sn] = [Math.floor(fn / 2), Math.floor(sn / 2)]
  }
  return sn === 0 && equalBytes(node, root) && left.length === bitCount(index) ? new CompactRange(index, left) : null
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0
}

function isPowerOfTwo(value: number): boolean {
  return bitCount(value) === 1
}

/** The number of bits that are set, for numbers above 32 bits too. */
function bitCount(value: number): number {
  let count = 0
  for (let rest = value; rest > 0; rest = Math.floor(rest / 2)) count += rest % 2
  return count
}
