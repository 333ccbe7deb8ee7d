/** The Merkle tree of logs, held against its definition. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { consistencyOf, leafHashOf, pathOf, rootOf } from '../../../lab/certificate-log/tree.ts'
import { CompactRange, completeRoot, isConsistent, rangeBefore } from '../../../src/fetch/ct/log/merkle-tree.ts'

const leaves = (count: number): Buffer[] =>
  Array.from({ length: count }, (_, index) => leafHashOf(Buffer.from(String(index))))

test('the root of a compact range is that of the tree, and it continues from its hashes', () => {
  for (let count = 0; count <= 70; count++) {
    const all = leaves(count)
    const range = new CompactRange()
    for (const leaf of all.slice(0, count / 2)) range.add(leaf)
    const continued = new CompactRange(range.size, range.hashes)
    for (const leaf of all.slice(count / 2)) continued.add(leaf)
    assert.deepEqual(continued.root(), rootOf(all), `${count} leaves`)
  }
  assert.throws(() => new CompactRange(3, [Buffer.alloc(32)]), RangeError)
})

test('the root of a complete subtree is that of a tree with its leaves', () => {
  for (const count of [1, 2, 4, 8, 256]) assert.deepEqual(completeRoot(leaves(count)), rootOf(leaves(count)))
})

test('a proof of consistency is accepted, and no other', () => {
  const flip = (hash: Buffer): Buffer => Buffer.from(hash.map((byte, index) => (index === 3 ? byte ^ 1 : byte)))
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 80 }), fc.nat(80), fc.nat(10), (second, firstRaw, which) => {
      const all = leaves(second)
      const first = Math.min(firstRaw, second)
      const [one, other] = [rootOf(all.slice(0, first)), rootOf(all)]
      const proof = first === 0 ? [] : consistencyOf(first, all)
      assert.ok(isConsistent([first, one], [second, other], proof))
      assert.ok(!isConsistent([first, one], [second, flip(other)], proof) || first === 0)
      if (first === 0) return
      assert.ok(!isConsistent([first, flip(one)], [second, other], proof))
      assert.ok(!isConsistent([first, one], [second, other], [...proof, one]))
      if (proof.length === 0) return
      const changed = proof.map((hash, index) => (index === which % proof.length ? flip(hash) : hash))
      assert.ok(!isConsistent([first, one], [second, other], changed))
      assert.ok(!isConsistent([first, one], [second, other], proof.slice(1)))
    }),
  )
  assert.ok(!isConsistent([2, rootOf(leaves(2))], [1, rootOf(leaves(1))], []))
  assert.ok(!isConsistent([3, rootOf(leaves(3))], [5, rootOf(leaves(5))], []))
})

test('an audit path gives the range before its leaf, and a wrong one gives null', () => {
  for (let count = 1; count <= 40; count++) {
    const all = leaves(count)
    const head = [count, rootOf(all)] as const
    for (let index = 0; index < count; index++) {
      const path = pathOf(index, all)
      const range = rangeBefore(index, all[index]!, head, path)
      assert.deepEqual(range!.root(), rootOf(all.slice(0, index)))
      for (const leaf of all.slice(index)) range!.add(leaf)
      assert.deepEqual(range!.root(), head[1])
      assert.equal(rangeBefore(index, leafHashOf(Buffer.from('x')), head, path), null)
      assert.equal(rangeBefore(index, all[index]!, head, [...path, all[0]!]), null)
      if (path.length > 0) assert.equal(rangeBefore(index, all[index]!, head, path.slice(1)), null)
    }
    assert.equal(rangeBefore(count, all[0]!, head, []), null)
  }
})
