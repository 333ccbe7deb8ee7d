/** Tombstones against a plain set. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Tombstones } from '../../../src/similar/index/tombstones.ts'

const ascending = (most: number) =>
  fc
    .uniqueArray(fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 2 ** 48 })), { maxLength: most })
    .map((all) => all.sort((a, b) => a - b))

test('deleted documents are left out', () => {
  fc.assert(
    fc.property(ascending(100), fc.integer({ min: 1, max: 9 }), fc.array(ascending(60)), (all, page, groups) => {
      const [removed, set] = [new Tombstones(), new Set(all)]
      for (let from = 0; from < all.length; from += page) removed.add(all.slice(from, from + page))
      for (const group of groups)
        assert.deepEqual(
          [...removed.filter(Float64Array.from(group))],
          group.filter((document) => !set.has(document)),
        )
      assert.deepEqual([...removed.batches(page)].flat(), all)
      assert.ok([...removed.batches(page)].every((some) => some.length > 0 && some.length <= page))
    }),
  )
})

test('the same with very many documents', () => {
  const removed = new Tombstones()
  for (let from = 0; from < 20_000; from += 5000) removed.add(Array.from({ length: 5000 }, (_, at) => 2 * (from + at)))
  const group = Float64Array.from({ length: 40_002 }, (_, at) => at)
  for (const _ of [1, 2])
    assert.deepEqual(
      removed.filter(group),
      group.filter((document) => document % 2 === 1 || document === 40_000),
    )
})
